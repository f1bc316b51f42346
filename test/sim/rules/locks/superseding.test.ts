/** Runs that a newer one replaces: each row of the table in docs/explanation/locks-and-sharing.md. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fresh } from '../../../support/fresh.ts';
import { posts } from '../../../support/journal.ts';
import { eventsOf } from '../../stack/inspect.ts';
import { inVirtualTime, MOMENT_MS } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { deployPosts } from '../runs/runs-that-wait.ts';
import { assertHandedOver, held, outcomes, queueOf } from './held-locks.ts';
import { assertSuperseded, BLIND, SUPERSEDE } from './superseded.ts';

const MINUTE_MS = 60_000;

for (const [where, options] of [
  ['found by a search', {}],
  ['met in the queue', BLIND],
] as const) {
  describe(`superseding, ${where}`, () => {
    test(
      'a run that waits for a lock is replaced, and the newer one gets its place in the queue',
      inVirtualTime(async (stack) => {
        const lock = await held(stack, 'deployment');
        const older = await lock.queueUp();
        // It covers more, so it stays.
        const other = await lock.queueUp({ siteIds: [lock.id, fresh('a')] });
        const newer = lock.start(SUPERSEDE);
        await assertSuperseded(stack, older, newer);
        lock.finish();
        await assertHandedOver(stack, [lock.holder, newer, other]);
        assert.deepEqual(await outcomes(stack, [lock.holder, newer, other]), ['completed', 'completed', 'completed']);
        assert.equal(lock.begun(), 3);
      }, options),
    );

    test(
      'a run that makes its backup is replaced, and the newer one shares that backup',
      inVirtualTime(async (stack) => {
        const siteIds = [fresh('a')];
        const lock = await held(stack, 'backup', [{}], { siteIds });
        const newer = lock.start({ siteIds, ...SUPERSEDE });
        const { backup } = await assertSuperseded(stack, lock.holder, newer);
        lock.finish();
        const shared = await stack.result(newer);
        assert.deepEqual([shared.outcome, shared.backup?.source], ['completed', 'shared']);
        assert.deepEqual([backup?.serverId, backup?.outcome], [lock.id, 'cancelled']);
        assert.equal(lock.begun(), 1);
        assert.equal(deployPosts(stack, siteIds[0]!), 1);
      }, options),
    );

    test(
      'a run that waits for a backup of another run is replaced',
      inVirtualTime(async (stack) => {
        const lock = await held(stack, 'backup');
        const siteIds = [fresh('a')];
        const older = await lock.queueUp({ siteIds });
        const newer = lock.start({ siteIds, ...SUPERSEDE });
        await assertSuperseded(stack, older, newer);
        lock.finish();
        assert.deepEqual(await outcomes(stack, [lock.holder, newer]), ['completed', 'completed']);
        assert.deepEqual([lock.begun(), deployPosts(stack, siteIds[0]!)], [1, 1]);
      }, options),
    );

    test(
      'a run that holds the lock and has not sent its request is replaced',
      inVirtualTime(async (stack) => {
        const { sandbox, start, until, forward } = stack;
        const siteId = fresh('a');
        sandbox.script({ site: siteId }, { ends: 'never' }, {});
        sandbox.act({ site: siteId });
        const older = start({ siteIds: [siteId] });
        await until('its operation', () => eventsOf(older, 'childStarted').length === 1);
        await forward(MOMENT_MS);
        const newer = start({ siteIds: [siteId], ...SUPERSEDE });
        await assertSuperseded(stack, older, newer);
        sandbox.finish({ site: siteId }, 'completed');
        assert.deepEqual(await outcomes(stack, [newer]), ['completed']);
        assert.equal(deployPosts(stack, siteId), 1);
      }, options),
    );

    test(
      'a run that has sent its request goes on, also if the request is in doubt',
      inVirtualTime(async (stack) => {
        for (const isInDoubt of [false, true]) {
          const siteId = fresh('a');
          if (isInDoubt)
            stack.sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'none' }, effect: true });
          const older = stack.start({ siteIds: [siteId] });
          await stack.until('its request', () => deployPosts(stack, siteId) === 1);
          const newer = stack.start({ siteIds: [siteId], ...SUPERSEDE });
          assert.deepEqual(await outcomes(stack, [older, newer]), ['completed', 'completed']);
          await assertHandedOver(stack, [older, newer]);
          assert.equal(deployPosts(stack, siteId), 2);
        }
      }, options),
    );

    test(
      'a run of which the newer one covers only a part goes on, and so does one of another server or type',
      inVirtualTime(async (stack) => {
        const lock = await held(stack, 'deployment');
        const more = await lock.queueUp({ siteIds: [lock.id, fresh('a')] });
        const withBackup = lock.start({ serverId: fresh('s') });
        await stack.until('its request', () => lock.requests() === 2);
        const newer = await lock.queueUp(SUPERSEDE);
        const newest = lock.start({ serverId: fresh('s'), ...SUPERSEDE });
        await stack.until('its request', () => lock.requests() === 4);
        lock.finish();
        const runs = [lock.holder, more, withBackup, newer, newest];
        assert.deepEqual(await outcomes(stack, runs), Array(5).fill('completed'));
        assert.equal(lock.begun(), 5);
      }, options),
    );

    test(
      'a run that has deployed one of its sites goes on',
      inVirtualTime(async (stack) => {
        const lock = await held(stack, 'deployment');
        const first = fresh('a');
        const begun = lock.start({ siteIds: [first, lock.id], ...SUPERSEDE });
        await stack.until('its request for the lock', () => lock.requests() === 1);
        assert.equal(deployPosts(stack, first), 1);
        const newer = await lock.queueUp({ siteIds: [first, lock.id], ...SUPERSEDE });
        lock.finish();
        assert.deepEqual(await outcomes(stack, [begun, newer]), ['completed', 'completed']);
        assert.equal(deployPosts(stack, first), 2);
      }, options),
    );

    test(
      'a run without --supersede waits its turn, and replaces no run',
      inVirtualTime(async (stack) => {
        const lock = await held(stack, 'deployment');
        const waiting = await queueOf(lock, 2);
        lock.finish();
        await assertHandedOver(stack, [lock.holder, ...waiting]);
        assert.equal(lock.begun(), 3);
      }, options),
    );

    test(
      'a run stays superseded if the newer one is cancelled before it begins',
      inVirtualTime(async (stack) => {
        const lock = await held(stack, 'deployment');
        const older = await lock.queueUp();
        const newer = await lock.queueUp(SUPERSEDE);
        await assertSuperseded(stack, older, newer);
        stack.cancel(newer);
        assert.deepEqual((await stack.result(newer)).error?.type, 'Cancelled');
        lock.finish();
        await stack.result(lock.holder);
        assert.equal(lock.begun(), 1);
      }, options),
    );

    test(
      'of twenty that start during one deployment, the newest deploys',
      inVirtualTime(async (stack) => {
        const siteIds = [fresh('a')];
        const serverId = fresh('s');
        stack.sandbox.script({ site: siteIds[0]! }, { ends: 'never' }, {});
        stack.sandbox.script({ server: serverId }, { durationMs: MINUTE_MS });
        const first = stack.start({ siteIds, serverId, ...SUPERSEDE });
        await stack.until('its deployment', () => deployPosts(stack, siteIds[0]!) === 1);
        const runs: Run[] = [];
        for (let count = 0; count < 20; count += 1) {
          runs.push(stack.start({ siteIds, serverId, ...SUPERSEDE }));
          await stack.forward(1 + (count % 3) * 1_000);
        }
        await stack.forward(2 * MINUTE_MS);
        stack.sandbox.finish({ site: siteIds[0]! }, 'completed');
        const newest = runs.pop()!;
        assert.deepEqual(await outcomes(stack, [first, newest]), ['completed', 'completed']);
        for (const run of runs) assert.equal((await stack.result(run)).error?.type, 'Superseded');
        assert.equal(deployPosts(stack, siteIds[0]!), 2);
        assert.equal(posts(stack.sandbox, `/v1/servers/${serverId}/backups`).length, 2);
      }, options),
    );
  });
}
