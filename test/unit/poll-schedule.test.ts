import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  afterHeldRead,
  afterScheduledRead,
  nextScheduledRead,
  skipTo,
  createPollSchedule,
} from '../../src/rules/poll-schedule.ts';

const T0 = 1_000_000;

test('try k is due at k intervals after the origin', () => {
  let beat = createPollSchedule(T0, 10_000);
  for (let k = 1; k <= 3; k += 1) {
    const due = nextScheduledRead(beat);
    assert.deepEqual(due, { atMs: T0 + k * 10_000, isTry: true });
    beat = afterScheduledRead(beat, due.atMs + 40, true);
  }
});

test('early reads come first and do not count as tries if the interval is longer', () => {
  const beat = createPollSchedule(T0, 2_000, { earlyMs: [1_000, 3_000] });
  assert.deepEqual(nextScheduledRead(beat), { atMs: T0 + 1_000, isTry: false });
  assert.deepEqual(nextScheduledRead(afterScheduledRead(beat, T0 + 1_050, false)), { atMs: T0 + 2_000, isTry: true });
});

test('a hinted read does not change the schedule', () => {
  const beat = afterScheduledRead(createPollSchedule(T0, 10_000), T0 + 4_000, false);
  assert.equal(nextScheduledRead(beat).atMs, T0 + 10_000);
});

test('a late or slow try skips the missed ticks and stays on the grid', () => {
  const beat = afterScheduledRead(createPollSchedule(T0, 10_000), T0 + 65_000, true);
  assert.equal(nextScheduledRead(beat).atMs, T0 + 70_000);
});

test('a Retry-After moves the next read to the first tick after it', () => {
  const beat = createPollSchedule(T0, 10_000, { earlyMs: [1_000] });
  assert.deepEqual(nextScheduledRead(beat, T0 + 25_000), { atMs: T0 + 30_000, isTry: true });
});

test('a schedule can resume later', () => {
  const beat = skipTo(createPollSchedule(T0, 10_000, { earlyMs: [1_000, 3_000] }), T0 + 2_000);
  assert.deepEqual(nextScheduledRead(beat), { atMs: T0 + 3_000, isTry: false });
  assert.equal(nextScheduledRead(skipTo(beat, T0 + 20_000)).atMs, T0 + 30_000);
});

test('property: tries are on the grid, each later than the read before it, and never before a Retry-After', () => {
  const step = fc.record({
    lateMs: fc.integer({ min: 0, max: 60_000 }),
    hinted: fc.boolean(),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: 0 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 20_000 }), fc.array(step, { maxLength: 40 }), (intervalMs, steps) => {
      let beat = createPollSchedule(T0, intervalMs, { earlyMs: [1_000, 3_000] });
      let nowMs = T0;
      let lastTryMs = T0;
      for (const { lateMs, hinted, retryAfterMs } of steps) {
        const notBeforeMs = nowMs + retryAfterMs;
        const due = nextScheduledRead(beat, notBeforeMs);
        if (retryAfterMs > 0) assert.ok(due.atMs >= notBeforeMs);
        if (due.isTry) assert.equal((due.atMs - T0) % intervalMs, 0);
        if (hinted) {
          nowMs += Math.min(lateMs, Math.max(0, due.atMs - nowMs));
          beat = afterScheduledRead(beat, nowMs, false);
          continue;
        }
        nowMs = Math.max(nowMs, due.atMs) + lateMs;
        beat = afterScheduledRead(beat, nowMs, due.isTry);
        if (!due.isTry) continue;
        assert.ok(due.atMs > lastTryMs);
        lastTryMs = due.atMs;
        // Missed reads are not made up: the next one is due after this one ends.
        assert.ok(nextScheduledRead(beat).atMs >= nowMs);
      }
    }),
  );
});

test('a try moved by a Retry-After and answered at once is not repeated immediately', () => {
  const moved = nextScheduledRead(createPollSchedule(T0, 10), T0 + 11);
  assert.equal(moved.atMs, T0 + 20);
  const after = afterScheduledRead(createPollSchedule(T0, 10), moved.atMs, true);
  assert.equal(nextScheduledRead(after).atMs, T0 + 30);
});

test('a try that a rate limit held back is made when it may be, as the same try, and the next one keeps its place', () => {
  const held = afterHeldRead(createPollSchedule(T0, 60_000), T0 + 60_000, true, T0 + 65_000);
  assert.deepEqual(nextScheduledRead(held), { atMs: T0 + 65_000, isTry: true });
  const again = afterHeldRead(held, T0 + 65_000, true, T0 + 70_000);
  assert.deepEqual(nextScheduledRead(again), { atMs: T0 + 70_000, isTry: true });
  assert.deepEqual(nextScheduledRead(afterScheduledRead(again, T0 + 70_000, true)), {
    atMs: T0 + 120_000,
    isTry: true,
  });
});

test('a held try stays due while a hinted read is answered', () => {
  const held = afterHeldRead(createPollSchedule(T0, 60_000), T0 + 60_000, true, T0 + 65_000);
  assert.equal(nextScheduledRead(afterScheduledRead(held, T0 + 62_000, false)).atMs, T0 + 65_000);
});

test('an early read that a rate limit held back is made when it may be, and uses no try', () => {
  const schedule = createPollSchedule(T0, 60_000, { earlyMs: [1_000] });
  const held = afterHeldRead(schedule, T0 + 1_000, false, T0 + 9_000);
  assert.deepEqual(nextScheduledRead(held, T0 + 9_000), { atMs: T0 + 9_000, isTry: false });
  assert.deepEqual(nextScheduledRead(afterScheduledRead(held, T0 + 9_000, false)), { atMs: T0 + 60_000, isTry: true });
});
