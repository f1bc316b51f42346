import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { afterRead, nextRead, skipTo, startBeat } from '../../src/workflows/rules/poll-schedule.ts';

const T0 = 1_000_000;

test('try k is due at k intervals after the origin', () => {
  let beat = startBeat(T0, 10_000);
  for (let k = 1; k <= 3; k += 1) {
    const due = nextRead(beat);
    assert.deepEqual(due, { atMs: T0 + k * 10_000, isTry: true });
    beat = afterRead(beat, due.atMs + 40, true);
  }
});

test('early reads come first and are no tries, where the interval is longer', () => {
  const beat = startBeat(T0, 2_000, [1_000, 3_000]);
  assert.deepEqual(nextRead(beat), { atMs: T0 + 1_000, isTry: false });
  assert.deepEqual(nextRead(afterRead(beat, T0 + 1_050, false)), { atMs: T0 + 2_000, isTry: true });
});

test('a hinted read leaves the beat as it is', () => {
  const beat = afterRead(startBeat(T0, 10_000), T0 + 4_000, false);
  assert.equal(nextRead(beat).atMs, T0 + 10_000);
});

test('a try that was late or slow skips what it ran over, and keeps to the grid', () => {
  const beat = afterRead(startBeat(T0, 10_000), T0 + 65_000, true);
  assert.equal(nextRead(beat).atMs, T0 + 70_000);
});

test('a Retry-After moves the next read to the first beat after it', () => {
  const beat = startBeat(T0, 10_000, [1_000]);
  assert.deepEqual(nextRead(beat, T0 + 25_000), { atMs: T0 + 30_000, isTry: true });
});

test('a beat can be taken up later', () => {
  const beat = skipTo(startBeat(T0, 10_000, [1_000, 3_000]), T0 + 2_000);
  assert.deepEqual(nextRead(beat), { atMs: T0 + 3_000, isTry: false });
  assert.equal(nextRead(skipTo(beat, T0 + 20_000)).atMs, T0 + 30_000);
});

test('property: tries are on the grid, each later than the read before it, and never before a Retry-After', () => {
  const step = fc.record({
    lateMs: fc.integer({ min: 0, max: 60_000 }),
    hinted: fc.boolean(),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: 0 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 20_000 }), fc.array(step, { maxLength: 40 }), (intervalMs, steps) => {
      let beat = startBeat(T0, intervalMs, [1_000, 3_000]);
      let nowMs = T0;
      let lastTryMs = T0;
      for (const { lateMs, hinted, retryAfterMs } of steps) {
        const notBeforeMs = nowMs + retryAfterMs;
        const due = nextRead(beat, notBeforeMs);
        if (retryAfterMs > 0) assert.ok(due.atMs >= notBeforeMs);
        if (due.isTry) assert.equal((due.atMs - T0) % intervalMs, 0);
        if (hinted) {
          nowMs += Math.min(lateMs, Math.max(0, due.atMs - nowMs));
          beat = afterRead(beat, nowMs, false);
          continue;
        }
        nowMs = Math.max(nowMs, due.atMs) + lateMs;
        beat = afterRead(beat, nowMs, due.isTry);
        if (!due.isTry) continue;
        assert.ok(due.atMs > lastTryMs);
        lastTryMs = due.atMs;
        // Nothing is made up for: the next read is due after this one ended.
        assert.ok(nextRead(beat).atMs >= nowMs);
      }
    }),
  );
});

test('a try that a Retry-After moved, and that was answered in no time, is not made again at once', () => {
  const moved = nextRead(startBeat(T0, 10), T0 + 11);
  assert.equal(moved.atMs, T0 + 20);
  const after = afterRead(startBeat(T0, 10), moved.atMs, true);
  assert.equal(nextRead(after).atMs, T0 + 30);
});
