/** Who gets a lock, and when. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import { siteTarget } from '../../../../src/contract/target.ts';
import { backupServerId, deploySiteId } from '../../../../src/contract/ids.ts';
import { fresh } from '../../../support/fresh.ts';
import { began } from '../../../support/journal.ts';
import { eventsOf } from '../../stack/inspect.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { assertHandedOver, asWaiter, held, isWaiting, AT_ONCE_MS, outcomes, queueOf, span } from './held-locks.ts';

describe('locks', () => {
  test(
    'runs for one site deploy one after another in the order of their start',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const waiting = await queueOf(lock, 4);
      lock.finish();
      await assertHandedOver(stack, [lock.holder, ...waiting]);
      assert.equal(lock.begun(), 5);
    }),
  );

  test(
    'runs that start in another order than they ask for a lock get it in the order in which they ask',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      // The first one makes a backup before it asks.
      const last = lock.start({ serverId: fresh('s') });
      const first = await lock.queueUp();
      assert.equal(lock.requests(), 1);
      await stack.until('the request of the other', () => lock.requests() === 2);
      lock.finish();
      await assertHandedOver(stack, [lock.holder, first, last]);
    }),
  );

  test(
    'waiters forwarded late by the lock holder keep their queue position',
    inVirtualTime(async (stack) => {
      const { world, signal, until } = stack;
      const lock = await held(stack, 'deployment');
      const waiting = await queueOf(lock, 2);
      const late = waiting.map((run, index) => asWaiter(run, world.clock.nowMs + 10 - index)).reverse();
      const { lockId, holder } = lock;
      signal(holder.workflowId, SIGNALS.lockReleased, { lockId, waiters: late, backup: null });
      // The lock holder receives the waiters' request again: the message was forwarded to it alone.
      await until('the forwarded request', () => lock.requests() === 3);
      await stack.forward(AT_ONCE_MS);
      for (const run of waiting) assert.equal(eventsOf(run, 'signaled').length, 0, 'a waiter was given the lock');
      lock.finish();
      await assertHandedOver(stack, [holder, ...waiting]);
    }),
  );

  test(
    'two runs for one site started at the same time deploy one after the other',
    inVirtualTime(async (stack) => {
      const siteId = fresh('a');
      const runs = [stack.start({ siteIds: [siteId] }), stack.start({ siteIds: [siteId] })];
      assert.deepEqual(await outcomes(stack, runs), ['completed', 'completed']);
      await assertHandedOver(stack, runs);
    }),
  );

  test(
    'a cancelled waiter is skipped and triggers nothing',
    inVirtualTime(async (stack) => {
      const { cancel, result } = stack;
      const lock = await held(stack, 'deployment');
      const [quitter, last] = (await queueOf(lock, 2)) as [Run, Run];
      cancel(quitter);
      const quit = await result(quitter);
      assert.deepEqual([quit.outcome, quit.deployments[0]?.outcome], ['not_started', 'not_started']);
      lock.finish();
      await assertHandedOver(stack, [lock.holder, last]);
      assert.deepEqual(await outcomes(stack, [lock.holder, last]), ['completed', 'completed']);
      assert.equal(lock.begun(), 2);
    }),
  );

  test(
    'the deployment of a terminated run keeps the lock until its verdict',
    inVirtualTime(async (stack) => {
      const { world, terminate, forward, result } = stack;
      const lock = await held(stack, 'deployment');
      const waiter = await lock.queueUp();
      terminate(lock.holder.workflowId);
      // The waiter looks at the holder twice.
      await forward(2 * TIMING.lock.lookAgainMs + AT_ONCE_MS);
      assert.equal(lock.holder.outcome, 'terminated');
      const operation = world.server.find(lock.lockId)!;
      assert.deepEqual([operation.closedMs, lock.begun()], [null, 1]);
      lock.finish();
      const served = await result(waiter);
      assert.equal(served.outcome, 'completed');
      const freeMs = span(served).fromMs - operation.closedMs!;
      assert.ok(freeMs >= 0 && freeMs < AT_ONCE_MS, `${freeMs} ms`);
    }),
  );

  test(
    'a cancelled run forwards a lock message and still returns its result',
    inVirtualTime(async ({ world, sandbox, start, until, cancel, signal, result }) => {
      const [siteId, otherId] = [fresh('a'), fresh('a')];
      sandbox.script({ site: siteId }, { ends: 'never' });
      sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'true' }, delayMs: 3_000 });
      const run = start({ siteIds: [siteId] });
      await until('the deployment', () => began(sandbox, 'deployment', siteId).length > 0);
      cancel(run);
      const missing = { workflowId: 'missing', runId: '00000000-0000-0000-0000-000000000000' };
      const waiters = [{ ...missing, since: new Date(world.clock.nowMs).toISOString() }];
      signal(run.workflowId, SIGNALS.lockReleased, { lockId: deploySiteId(otherId), waiters, backup: null });
      const { outcome, deployments } = await result(run);
      assert.deepEqual([outcome, deployments[0]?.trigger.attempts], ['cancelled', 1]);
      const forwarded = eventsOf(run, 'signalInitiated').map(({ signal: name, target }) => [name, target]);
      assert.deepEqual(forwarded, [[SIGNALS.lockReleased, missing]]);
    }),
  );

  test(
    'a run that does not wait ends Busy at a locked site and triggers nothing',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const refused = lock.start({ ifBusy: 'fail' });
      const { outcome, error } = await stack.result(refused);
      assert.deepEqual([outcome, error?.type], ['not_started', 'Busy']);
      assert.ok(refused.closedMs! - refused.startedMs < AT_ONCE_MS);
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder]), ['completed']);
      assert.deepEqual([lock.begun(), lock.requests()], [1, 0]);
    }),
  );

  test(
    'a run waits for a lock exactly as long as its busyTimeoutMs',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      for (const busyTimeoutMs of [500, TIMING.lock.lookAgainMs + 500]) {
        const waiter = await lock.queueUp({ busyTimeoutMs });
        assert.equal((await stack.result(waiter)).error?.type, 'Busy');
        const lateMs = waiter.closedMs! - waiter.startedMs - busyTimeoutMs;
        assert.ok(lateMs >= 0 && lateMs < AT_ONCE_MS, `${lateMs} ms`);
      }
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder]), ['completed']);
      assert.equal(lock.begun(), 1);
    }),
  );

  test(
    'an operation started by hand fails before any request',
    inVirtualTime(async ({ sandbox, startByHand, until }) => {
      const siteId = fresh('a');
      const input = { target: siteTarget(siteId), waiters: [], tries: 1, intervalMs: 100 };
      for (const workflowId of ['by-hand', deploySiteId(siteId)]) {
        const operation = startByHand('deploySite', workflowId, input);
        await until('its end', () => operation.closedMs !== null);
        const { outcome } = operation;
        assert.ok(typeof outcome === 'object' && outcome !== null && 'failure' in outcome);
        assert.equal(outcome.failure.applicationFailureInfo?.type, 'WrongWorkflowId');
        assert.ok(outcome.failure.message?.includes(deploySiteId(siteId)));
      }
      assert.equal(sandbox.journal.length, 0);
    }),
  );

  test(
    'what is started by hand without an input ends at once, and holds no lock',
    inVirtualTime(async ({ sandbox, startByHand, until }) => {
      const ids = { deploySite: deploySiteId('34'), backupServer: backupServerId('12'), freeze: 'freeze:all' };
      for (const [type, workflowId] of Object.entries({ ...ids, report: 'report', sendNotifications: 'notify' })) {
        const inputs = [[], [null], ['x'], [{}], [{ scope: {}, until: '2030-01-01T00:00:00Z' }]];
        for (const [index, args] of inputs.entries()) {
          const run = startByHand(type, index === 0 ? workflowId : `${workflowId}.${index}`, ...args);
          await until(`the end of ${type} with ${JSON.stringify(args)}`, () => run.closedMs !== null);
          assert.ok(typeof run.outcome === 'object' && run.outcome !== null && 'failure' in run.outcome, type);
        }
      }
      assert.equal(sandbox.journal.length, 0);
    }),
  );

  test(
    'an id that is not a valid URL segment maps to one lock',
    inVirtualTime(async (stack) => {
      const { world, sandbox, start, until } = stack;
      const [serverId, siteId] = [`${fresh('s')}/ä :%2F`, `${fresh('a')}/../x?y#z`];
      const run = start({ serverId, siteIds: [siteId] });
      await until('the deployment', () => began(sandbox, 'deployment', siteId).length === 1);
      const other = start({ siteIds: [siteId] });
      await until('the queue', () => isWaiting(other));
      assert.deepEqual(await outcomes(stack, [run, other]), ['completed', 'completed']);
      assert.equal(began(sandbox, 'backup', serverId).length, 1);
      assert.equal(began(sandbox, 'deployment', siteId).length, 2);
      for (const lockId of [backupServerId(serverId), deploySiteId(siteId)]) {
        const outcome = world.server.find(lockId)?.outcome;
        assert.ok(typeof outcome === 'object' && outcome !== null && 'result' in outcome);
      }
    }),
  );
});
