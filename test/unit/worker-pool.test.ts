/** The clock of pooled waits: Temporal's, by what a worker hears of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPool } from '../../src/worker/pool.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const T0 = Date.parse('2026-11-22T01:06:00Z');

/** A worker whose clock began at 0 when Temporal's showed T0. */
function worker({ isAnswered = true } = {}) {
  let passedMs = 0;
  let asked = 0;
  const temporalNowMs = () => {
    asked += 1;
    return isAnswered ? Promise.resolve(T0 + passedMs) : Promise.reject(new Error('no answer'));
  };
  const pool = createPool(temporalNowMs, () => passedMs);
  return {
    pool,
    pass: (ms: number) => void (passedMs += ms),
    asked: () => asked,
    takesAfter: (lateMs: number) => pool.begun(T0 + passedMs - lateMs),
    aheadMs: () => pool.nowMs() - (T0 + passedMs),
  };
}

test('an attempt that a worker takes late does not set its clock back', async () => {
  const { takesAfter, aheadMs, pass } = worker();
  await takesAfter(4 * MINUTE_MS);
  assert.equal(aheadMs(), 0);
  for (let n = 1; n <= 30; n += 1) {
    pass(MINUTE_MS);
    await takesAfter(4 * MINUTE_MS);
    assert.equal(aheadMs(), 0, `after ${n} minutes`);
  }
});

test('however many attempts begin, Temporal is asked for the time once in five minutes', async () => {
  const { takesAfter, asked, pass } = worker();
  await Promise.all(Array.from({ length: 100 }, () => takesAfter(0)));
  pass(4 * MINUTE_MS);
  await takesAfter(0);
  assert.equal(asked(), 1);
  pass(2 * MINUTE_MS);
  await Promise.all(Array.from({ length: 100 }, () => takesAfter(0)));
  assert.equal(asked(), 2);
});

test('while Temporal does not tell the time, the most punctual attempt does', async () => {
  const { takesAfter, aheadMs } = worker({ isAnswered: false });
  await takesAfter(4 * MINUTE_MS);
  assert.equal(aheadMs(), -4 * MINUTE_MS);
  await takesAfter(SECOND_MS);
  assert.equal(aheadMs(), -SECOND_MS);
  await takesAfter(4 * MINUTE_MS);
  assert.equal(aheadMs(), -SECOND_MS);
});
