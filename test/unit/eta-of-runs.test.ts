import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { etaOfRuns } from '../../src/features/advice/rules.ts';
import { leftOfRolloutMs } from '../../src/features/rollouts/actions-show.ts';
import { targetResult } from '../support/target-result.ts';

const past = (usuallyMs: number | null, p95Ms: number | null = null) => ({ usuallyMs, p95Ms });

describe('how long runs take', () => {
  test('is the sum of what the operations of one run take', () => {
    assert.deepEqual(etaOfRuns([[past(100, 150), past(20, 40)]], 1), { usuallyMs: 120, p95Ms: 190 });
  });

  test('is not known if one of its operations has too short a past', () => {
    assert.equal(etaOfRuns([[past(100, 150), null]], 1), null);
    assert.equal(etaOfRuns([[past(100, 150), past(null)]], 1), null);
    assert.deepEqual(etaOfRuns([[past(100, 150), past(20)]], 1), { usuallyMs: 120, p95Ms: null });
  });

  test('is, for the servers of a rollout, the median of those known, as often as it takes', () => {
    const runs = [[past(10)], [past(30)], [past(20)], [null], [past(40)]];
    assert.deepEqual(etaOfRuns(runs, 2), { usuallyMs: 60, p95Ms: null });
    assert.equal(etaOfRuns([[null], [null]], 1), null);
  });
});

const AT = Date.parse('2026-12-18T12:00:00Z');
const at = (ms: number) => new Date(AT + ms).toISOString();

const ended = (ms: number) => targetResult({ outcome: 'completed', startedAt: at(0), endedAt: at(ms) });
const running = targetResult({ startedAt: at(0) });

describe('what is left of a rollout', () => {
  const FIVE = [10, 20, 30, 40, 50].map(ended);

  test('is the median of its servers, for as many rounds as are left', () => {
    assert.equal(
      leftOfRolloutMs([...FIVE, running, running, targetResult({}), targetResult({}), targetResult({})]),
      90,
    );
    assert.equal(leftOfRolloutMs([...FIVE, running]), 30);
  });

  test('does not count servers that an event holds', () => {
    assert.equal(leftOfRolloutMs([...FIVE, running, targetResult({ heldByEvent: 'e' })]), 30);
  });

  test('is not known before five have ended, nor once all have', () => {
    assert.equal(leftOfRolloutMs([...FIVE.slice(1), running]), null);
    assert.equal(leftOfRolloutMs(FIVE), null);
  });
});
