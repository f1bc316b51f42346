/** Times in HTTP headers are in UTC, whatever the time zone of the machine. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { httpDateMs } from '../../src/hosting-api/http-date.ts';

const NOW_MS = Date.parse('2026-11-21T00:00:00Z');
const isoOf = (text: string, nowMs = NOW_MS) => {
  const ms = httpDateMs(text, nowMs);
  return ms === null ? null : new Date(ms).toISOString();
};

describe('a time in an HTTP header', () => {
  for (const [what, text] of [
    ['the usual form', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['the form of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['the form of the C library', 'Sun Nov  6 08:49:37 1994'],
  ] as const) {
    test(`may have ${what}`, () => assert.equal(isoOf(text), '1994-11-06T08:49:37.000Z'));
  }

  test('has a year of two digits that is at most 50 years ahead', () => {
    assert.equal(isoOf('Saturday, 21-Nov-76 00:00:00 GMT'), '2076-11-21T00:00:00.000Z');
    assert.equal(isoOf('Monday, 21-Nov-77 00:00:00 GMT'), '1977-11-21T00:00:00.000Z');
  });

  for (const text of [
    ...['', 'May 5', 'Sat', '2026-11-21T00:00:00Z', 'Sat, 21 Nov 2026', 'Sat, 21 Nov 2026 00:00:30'],
    ...['Sat, 21 Nov 2026 00:00:30 EST', 'Sat, 21 Nov 2026 00:00:30 +0100', 'sat, 21 nov 2026 00:00:30 gmt'],
    ...['Sat, 1 Nov 2026 00:00:30 GMT', 'Sat, 31 Nov 2026 00:00:30 GMT', 'Sat, 21 Nov 2026 24:00:00 GMT'],
    ...['Sat, 21-Nov-26 00:00:30 GMT', 'Sat Nov 21 00:00:30 2026 GMT', 'Sat, 21 Nov 2026 00:00:30 GMT, 5'],
  ]) {
    test(`is none if it reads "${text}"`, () => assert.equal(isoOf(text), null));
  }

  test('is in UTC in every form, also on a machine of another time zone', () => {
    const module = new URL('../../src/hosting-api/http-date.ts', import.meta.url).href;
    const forms = ['Sat, 21 Nov 2026 00:00:30 GMT', 'Saturday, 21-Nov-26 00:00:30 GMT', 'Sat Nov 21 00:00:30 2026'];
    const code = `import { httpDateMs } from '${module}';
      console.log(new Date(0).getHours(), ...${JSON.stringify(forms)}.map((it) => httpDateMs(it) - ${NOW_MS}));`;
    const loader = new URL('../../tools/typescript.js', import.meta.url).href;
    const args = ['--import', loader, '--input-type=module', '--eval', code];
    const env = { ...process.env, TZ: 'Asia/Tokyo' };
    assert.equal(execFileSync(process.execPath, args, { env, encoding: 'utf8' }).trim(), '9 30000 30000 30000');
  });
});
