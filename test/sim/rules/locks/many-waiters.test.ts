/** What it costs that many runs wait for one lock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TIMING } from '../../../../src/contract/timing.ts';
import { COMPLETED, FAILED } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { assertHandedOver, held, AT_ONCE_MS, outcomes, queueOf } from './held-locks.ts';

const WAITERS = 30;
const LOOKS = 3;

/** What a run that waits does after it asked the holder. Each timer and each look at the holder is a billed action. */
function actionsOf(run: Run) {
  const asked = run.history.find((it) => it.kind === 'signalInitiated');
  assert.ok(asked);
  const since = run.history.filter(({ id }) => id > asked.id);
  return {
    timersMs: since.flatMap((it) => (it.kind === 'timerStarted' ? [it.ms] : [])),
    looks: since.filter((it) => it.kind === 'activityScheduled').length,
    asked: since.filter((it) => it.kind === 'signalInitiated').length,
  };
}

test(
  'thirty runs wait for one lock at no cost to its holder, and get it in the order in which they asked',
  inVirtualTime(async (stack) => {
    const { world, forward } = stack;
    // Each end differs from the one before, so one read is enough for its verdict.
    const ends = Array.from({ length: WAITERS }, (_, n) => (n % 2 === 0 ? FAILED : COMPLETED));
    const lock = await held(stack, 'deployment', ends);
    const waiting = await queueOf(lock, WAITERS);
    const operation = world.server.find(lock.lockId)!;
    const before = operation.history.length;
    await forward(LOOKS * TIMING.lock.lookAgainMs + AT_ONCE_MS);
    for (const run of waiting) {
      const timersMs = Array.from({ length: LOOKS + 1 }, () => TIMING.lock.lookAgainMs);
      assert.deepEqual(actionsOf(run), { timersMs, looks: LOOKS, asked: 0 });
    }
    const since = operation.history.slice(before);
    // Its own reads go on.
    assert.ok(since.length > 0);
    assert.equal(since.filter(({ kind }) => kind === 'signaled').length, 0);
    lock.finish();
    const runs = [lock.holder, ...waiting];
    await assertHandedOver(stack, runs);
    assert.deepEqual(await outcomes(stack, runs), ['completed', ...ends.map((it) => it.ends)]);
    assert.equal(lock.begun(), 1 + WAITERS);
  }),
);
