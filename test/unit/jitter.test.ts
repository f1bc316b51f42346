import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  drawJitter,
  jitterMs,
  afterScheduledRead,
  createPollSchedule,
  nextScheduledRead,
} from '../../src/rules/poll-schedule.ts';

test('a single run keeps its beat', () => {
  assert.equal(
    drawJitter(false, () => assert.fail('drew')),
    0,
  );
});

test('an operation that began before there was a jitter keeps its beat', () => {
  assert.equal(jitterMs({ intervalMs: 10_000 }), 0);
});

test('property: every try is delayed by the same time, at most a fifth of the interval, and early reads by none', () => {
  const drawn = fc.double({ min: 0, max: 0.999_999, noNaN: true });
  fc.assert(
    fc.property(drawn, fc.integer({ min: 10, max: 60_000 }), (random, intervalMs) => {
      const delayMs = jitterMs({ intervalMs, jitter: drawJitter(true, () => random) });
      assert.ok(delayMs >= 0 && delayMs <= intervalMs / 5);
      const earlyMs = Math.floor(intervalMs / 2);
      let schedule = createPollSchedule(0, intervalMs, { earlyMs: [earlyMs], jitterMs: delayMs });
      assert.deepEqual(nextScheduledRead(schedule), { atMs: earlyMs, isTry: false });
      schedule = afterScheduledRead(schedule, earlyMs, false);
      for (let k = 1; k <= 4; k += 1) {
        const due = nextScheduledRead(schedule);
        assert.deepEqual(due, { atMs: k * intervalMs + delayMs, isTry: true });
        schedule = afterScheduledRead(schedule, due.atMs, true);
      }
    }),
  );
});
