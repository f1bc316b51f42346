/** Runs that need a backup of one server: they share it, reuse it or use a given one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { LockReleased } from '../../../../src/contract/operation.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import { fresh } from '../../../support/fresh.ts';
import { began } from '../../../support/journal.ts';
import { eventsOf } from '../../stack/inspect.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { held, AT_ONCE_MS, outcomes, queueOf } from './held-locks.ts';

const MAX_AGE_MS = 60_000;

describe('shared backups', () => {
  test(
    'a running backup is shared by every run that needs one',
    inVirtualTime(async (stack) => {
      const { world, result } = stack;
      const lock = await held(stack, 'backup');
      const sharers = [await lock.queueUp({ siteIds: [fresh('a')] }), await lock.queueUp({ siteIds: [fresh('a')] })];
      lock.finish();
      const made = await result(lock.holder);
      const madeMs = world.clock.nowMs;
      for (const run of sharers) {
        const { outcome, backup, deployments } = await result(run);
        assert.equal(outcome, 'completed');
        assert.equal(backup?.source, 'shared');
        assert.equal(backup?.backupId, made.backup?.backupId);
        assert.equal(backup?.startedAt, made.backup?.startedAt);
        // It does not look for itself.
        assert.ok(Date.parse(deployments[0]?.startedAt ?? '') - madeMs < AT_ONCE_MS);
      }
      assert.equal(lock.begun(), 1);
    }),
  );

  test(
    'a failed shared backup fails every run that shares it',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'backup');
      const sharer = await lock.queueUp();
      lock.finish('failed');
      for (const run of [lock.holder, sharer]) assert.equal((await stack.result(run)).error?.type, 'BackupFailed');
      assert.equal(lock.begun(), 1);
    }),
  );

  test(
    'a backup continues for the runs that share it if its maker is cancelled',
    inVirtualTime(async (stack) => {
      const { world, cancel, result } = stack;
      const lock = await held(stack, 'backup');
      const sharer = await lock.queueUp();
      const cancelledMs = world.clock.nowMs;
      cancel(lock.holder);
      const { outcome, error, backup } = await result(lock.holder);
      assert.equal(outcome, 'cancelled');
      // The service continues it, and the result shows which one it is.
      const { backupId, source, trigger, acceptedAt } = backup!;
      assert.deepEqual([backup!.outcome, source, trigger.attempts], ['cancelled', 'created', 1]);
      assert.ok(backupId !== null && acceptedAt !== null);
      assert.match(
        error?.message ?? '',
        new RegExp(`^cancelled; backup ${backupId} of server .* continues, followed by`),
      );
      assert.ok(lock.holder.closedMs! - cancelledMs < AT_ONCE_MS);
      lock.finish();
      const shared = await result(sharer);
      assert.equal(shared.outcome, 'completed');
      assert.equal(shared.backup?.source, 'shared');
      assert.equal(lock.begun(), 1);
    }),
  );

  test(
    'a run that is cancelled while its failed backup passes its lock on reports the failure',
    inVirtualTime(async (stack) => {
      const { world, until, cancel, result } = stack;
      const lock = await held(stack, 'backup');
      const sharer = await lock.queueUp();
      lock.finish('failed');
      await until('its failure, passed on', () => sharer.signals > 0);
      assert.equal(world.server.find(lock.lockId)!.closedMs, null);
      cancel(lock.holder);
      const { outcome, error, backup } = await result(lock.holder);
      assert.deepEqual([outcome, backup?.outcome, error?.type], ['failed', 'failed', 'BackupFailed']);
    }),
  );

  test(
    'a shared backup continues for the other runs if one of them is cancelled',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'backup');
      const [leaves, stays] = await queueOf(lock, 2);
      stack.cancel(leaves!);
      assert.deepEqual(await outcomes(stack, [leaves!]), ['not_started']);
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder, stays!]), ['completed', 'completed']);
      assert.equal(lock.begun(), 1);
    }),
  );

  test(
    'a run that shares a backup keeps its own timeout, regardless of the maker',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'backup', [{}], { backup: { intervalMs: 5_000, tries: 3 } });
      const patient = await lock.queueUp();
      assert.deepEqual(await outcomes(stack, [lock.holder]), ['timed_out']);
      // More reads than the maker's.
      await stack.forward(TIMING.lock.lookAgainMs);
      assert.equal(patient.closedMs, null);
      lock.finish();
      assert.deepEqual(await outcomes(stack, [patient]), ['completed']);
      assert.equal(lock.begun(), 1);
    }),
  );

  test(
    'a backup whose operation is terminated is made once more for all waiters',
    inVirtualTime(async (stack) => {
      const { terminate, until } = stack;
      const lock = await held(stack, 'backup', [{ ends: 'never' }]);
      const waiting = await queueOf(lock, 3);
      terminate(lock.lockId);
      await until('another backup', () => lock.begun() === 2);
      // It lasts until the last waiter has looked up the holder.
      await until('the other waiters', () => lock.requests() === 2);
      lock.finish();
      const ends = await outcomes(stack, [lock.holder, ...waiting]);
      assert.deepEqual(ends, ['unknown', 'completed', 'completed', 'completed']);
      assert.equal(lock.begun(), 2);
    }),
  );

  test(
    'a holder that made no backup offers none with the lock',
    inVirtualTime(async (stack) => {
      const { sandbox, start, until } = stack;
      const serverId = fresh('s');
      sandbox.fault({
        route: 'create-backup',
        target: serverId,
        answer: { kind: 'status', code: 422 },
        delayMs: 5_000,
      });
      const [first, second] = [start({ serverId, siteIds: [] }), start({ serverId, siteIds: [] })];
      const released = await until('the release', () => eventsOf(second, 'signaled')[0]);
      assert.equal(payloads.fromPayload<LockReleased>(released.input[0]!).backup, null);
      assert.deepEqual(await outcomes(stack, [first, second]), ['not_started', 'completed']);
    }),
  );

  test(
    'a completed backup that is recent enough is reused after one more read',
    inVirtualTime(async ({ world, sandbox, start, result, forward }) => {
      const serverId = fresh('s');
      const { backup: made } = await result(start({ serverId, siteIds: [] }));
      const oldMs = () => world.clock.nowMs - Date.parse(made?.startedAt ?? '');
      await forward(MAX_AGE_MS - oldMs() - AT_ONCE_MS);
      const reused = await result(start({ serverId, siteIds: [], backup: { maxAgeMs: MAX_AGE_MS } }));
      assert.deepEqual([reused.outcome, reused.backup?.source, reused.backup?.polls], ['completed', 'reused', 1]);
      assert.equal(reused.backup?.backupId, made?.backupId);
      assert.equal(began(sandbox, 'backup', serverId).length, 1);
    }),
  );

  test(
    'a backup that is too old is not reused',
    inVirtualTime(async ({ world, sandbox, start, result, forward }) => {
      const serverId = fresh('s');
      const { backup: made } = await result(start({ serverId, siteIds: [] }));
      await forward(MAX_AGE_MS - (world.clock.nowMs - Date.parse(made?.startedAt ?? '')));
      const { outcome, backup } = await result(start({ serverId, siteIds: [], backup: { maxAgeMs: MAX_AGE_MS } }));
      assert.deepEqual([outcome, backup?.source], ['completed', 'created']);
      assert.equal(began(sandbox, 'backup', serverId).length, 2);
    }),
  );

  test(
    'a run adopts a given backup that another client made',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      sandbox.act({ server: serverId });
      const backupId = sandbox.journal.at(-1)?.began?.id;
      assert.ok(backupId);
      const { outcome, backup } = await result(start({ serverId, siteIds: [siteId], backup: { backupId } }));
      assert.deepEqual([outcome, backup?.source, backup?.backupId], ['completed', 'given', backupId]);
      assert.equal(began(sandbox, 'backup', serverId).length, 0);
      assert.equal(began(sandbox, 'deployment', siteId).length, 1);
    }),
  );

  test(
    'two runs that need the same backup and site both finish',
    inVirtualTime(async (stack) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      const both = () => stack.start({ serverId, siteIds: [siteId] });
      const runs = [both(), both(), stack.start({ siteIds: [siteId] })];
      assert.deepEqual(await outcomes(stack, runs), ['completed', 'completed', 'completed']);
      assert.equal(began(stack.sandbox, 'backup', serverId).length, 1);
      assert.equal(began(stack.sandbox, 'deployment', siteId).length, 3);
    }),
  );
});
