import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration } from '../../src/config/file/schema-values.ts';
import { aboutText, DAY_MS, HOUR_MS, parseDuration } from '../../src/contract/duration.ts';

for (const [text, ms] of [
  ['500ms', 500],
  ['10s', 10_000],
  ['2m', 120_000],
  ['1h', HOUR_MS],
  ['1d', DAY_MS],
  ['1.5d', 36 * HOUR_MS],
  ['7d', 7 * DAY_MS],
  ['2w', 14 * DAY_MS],
  ['90', 90_000],
  ['1D', null],
  ['2 weeks', null],
  ['1d12h', null],
] as const) {
  test(`the duration ${text} ${ms === null ? 'is refused' : `is ${ms} ms`}`, () => {
    assert.equal(parseDuration(text), ms);
    const inFile = duration([0, 365 * DAY_MS]).safeParse(text);
    assert.equal(inFile.success ? inFile.data : null, ms);
    if (!inFile.success) assert.match(inFile.error.message, /like 30s, 5m, 7d or 2w/);
  });
}

for (const [ms, text] of [
  [900, '1s'],
  [59_000, '59s'],
  [61_000, '2m'],
  [HOUR_MS - 5_000, '1h'],
  [2 * HOUR_MS + 240_001, '2h05m'],
  [47 * HOUR_MS, '47h'],
  [2 * DAY_MS, '2d'],
  [56_104 * 60_000, '39d'],
  [258 * HOUR_MS, '10d18h'],
] as const) {
  test(`${ms} ms are shown as about ${text}`, () => assert.equal(aboutText(ms), text));
}
