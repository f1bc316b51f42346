/** Locks whose holder or waiters are lost, and forged messages about locks. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { fresh } from '../../../support/fresh.ts';
import { eventsOf, lockRequests } from '../../stack/inspect.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { asWaiter, assertHandedOver, held, AT_ONCE_MS, outcomes, queueOf, request, span } from './held-locks.ts';

const { handOverMs, lookAgainMs } = TIMING.lock;

describe('locks under faults', () => {
  test(
    'a terminated waiter is skipped',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const [doomed, ...others] = await queueOf(lock, 3);
      stack.terminate(doomed!.workflowId);
      lock.finish();
      const rest = [lock.holder, ...others];
      assert.deepEqual(await outcomes(stack, rest), ['completed', 'completed', 'completed']);
      await assertHandedOver(stack, rest);
      assert.equal(lock.begun(), 3);
    }),
  );

  test(
    'waiters detect on their own that a terminated holder released its lock',
    inVirtualTime(async (stack) => {
      const { world, terminate, result } = stack;
      const lock = await held(stack, 'deployment');
      const [waiter] = await queueOf(lock, 1);
      terminate(lock.lockId);
      const releasedMs = world.clock.nowMs;
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder, waiter!]), ['unknown', 'completed']);
      const freeMs = span(await result(waiter!)).fromMs - releasedMs;
      assert.ok(freeMs < lookAgainMs + handOverMs + AT_ONCE_MS, `${freeMs} ms`);
      assert.equal(lock.begun(), 2);
    }),
  );

  test(
    'a waiter that finds the lock free looks again before it overtakes the first in the queue',
    inVirtualTime(async (stack) => {
      const { result, startUnserved } = stack;
      const lock = await held(stack, 'deployment');
      const waiter = await lock.queueUp();
      // It receives the lock and does not acquire it.
      const stalled = startUnserved();
      request(stack, lock.lockId, [asWaiter(stalled, 0)]);
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder, waiter]), ['completed', 'completed']);
      assert.deepEqual(
        eventsOf(stalled, 'signaled').map(({ signal }) => signal),
        [SIGNALS.lockReleased],
      );
      assert.deepEqual(
        eventsOf(waiter, 'timerStarted').map(({ ms }) => ms),
        [lookAgainMs, handOverMs],
      );
      const freeMs = span(await result(waiter)).fromMs - span(await result(lock.holder)).toMs;
      assert.ok(freeMs >= handOverMs, `${freeMs} ms`);
    }),
  );

  test(
    'a signal with invalid waiters holds up neither the holder of a lock nor the runs that wait for it',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const waiting = await queueOf(lock, 2);
      const { runId } = lock.holder;
      const since = new Date(stack.world.clock.nowMs).toISOString();
      const forged = [
        { workflowId: 'x', runId: 'nonsense', since },
        { workflowId: '', runId, since },
        { workflowId: 'x'.repeat(2_000), runId, since },
        { workflowId: 'x', runId, since: '' },
      ];
      request(stack, lock.lockId, forged);
      for (const { workflowId } of waiting) {
        // Not for the lock they wait for: it is forwarded at once.
        stack.signal(workflowId, SIGNALS.lockReleased, { lockId: 'other', waiters: forged, backup: null });
      }
      lock.finish();
      const runs = [lock.holder, ...waiting];
      assert.deepEqual(await outcomes(stack, runs), ['completed', 'completed', 'completed']);
      await assertHandedOver(stack, runs);
      const signalled = stack.world.server.runs.flatMap((run) => eventsOf(run, 'signalInitiated'));
      const known = new Set([lock.lockId, ...runs.map(({ workflowId }) => workflowId)]);
      assert.deepEqual(
        signalled.filter(({ target }) => !known.has(target.workflowId)),
        [],
      );
      assert.equal(lock.begun(), 3);
    }),
  );

  test(
    'a run asks the holder of a lock once, however long it waits',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const waiting = await queueOf(lock, 5);
      await stack.forward(3 * lookAgainMs + AT_ONCE_MS);
      for (const run of waiting) assert.equal(eventsOf(run, 'timerFired').length, 3);
      assert.equal(lock.requests(), waiting.length);
      lock.finish();
      await assertHandedOver(stack, [lock.holder, ...waiting]);
    }),
  );

  test(
    'a cancelled holder passes its lock to the next waiter',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const waiter = await lock.queueUp();
      stack.cancel(lock.holder);
      await stack.result(lock.holder);
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder, waiter]), ['cancelled', 'completed']);
      await assertHandedOver(stack, [lock.holder, waiter]);
      assert.equal(lock.begun(), 2);
    }),
  );

  test(
    'a run cancelled as it takes over a lock passes the queue on',
    inVirtualTime(async (stack) => {
      const { world, cancel, signal, until } = stack;
      const lock = await held(stack, 'deployment');
      const [quitter, next] = (await queueOf(lock, 2)) as [Run, Run];
      const waiters = [asWaiter(next, world.clock.nowMs)];
      // The lock is still held, so the run cannot take it over.
      signal(quitter.workflowId, SIGNALS.lockReleased, { lockId: lock.lockId, waiters, backup: null });
      await until('its attempt', () => eventsOf(quitter, 'childRefused').length === 2);
      cancel(quitter);
      assert.deepEqual(await outcomes(stack, [quitter]), ['not_started']);
      await until('the release', () => eventsOf(next, 'signaled').length === 1);
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder, next]), ['completed', 'completed']);
    }),
  );

  test(
    'waiters that a run learns of as it acquires a lock join the queue',
    inVirtualTime(async (stack) => {
      const { world, start, signal, until } = stack;
      const siteId = fresh('a');
      const [run, waiter] = [start({ siteIds: [siteId] }), stack.startUnserved()];
      await until('its operation', () => eventsOf(run, 'childInitiated').length === 1);
      const waiters = [asWaiter(waiter, world.clock.nowMs)];
      signal(run.workflowId, SIGNALS.lockReleased, { lockId: deploySiteId(siteId), waiters, backup: null });
      await until('the request', () => lockRequests(world.server.find(deploySiteId(siteId))) === 1);
      assert.equal(eventsOf(waiter, 'signaled').length, 0);
      assert.deepEqual(await outcomes(stack, [run]), ['completed']);
      assert.equal(eventsOf(waiter, 'signaled').length, 1);
    }),
  );
});
