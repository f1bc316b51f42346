/** After its deadline, a run triggers nothing, and what runs by then is not cut short. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lockRequests } from '../../stack/inspect.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { building, BUILDING, deployPosts, latest } from './runs-that-wait.ts';

const MINUTE = 60_000;
const WITHIN = { startDeploysWithinMs: 2 * MINUTE };

const afterDeadline = (startedAt: string | null) =>
  new RegExp(`within 2m of its start, which was ${new Date(Date.parse(startedAt ?? '') + 2 * MINUTE).toISOString()}$`);

describe('deadlines', () => {
  test(
    'a deployment that runs at the deadline is not cut short, and the next site is not deployed',
    inVirtualTime(async (stack) => {
      const { sandbox, forward, start, until, result } = stack;
      const [first, second] = [siteAfter(sandbox, FAILED, BUILDING), siteAfter(sandbox, FAILED, COMPLETED)];
      const run = start({ siteIds: [first, second], keepGoing: true, ...WITHIN });
      await until('the first deployment', () => deployPosts(stack, first) > 0);
      await forward(2 * MINUTE);
      assert.equal(run.closedMs, null);
      sandbox.finish({ site: first }, 'completed');
      const { outcome, error, deployments, startedAt } = await result(run);
      assert.deepEqual([outcome, error?.type], ['not_started', 'TooLate']);
      assert.match(error?.message ?? '', afterDeadline(startedAt));
      assert.deepEqual(
        deployments.map((it) => it.outcome),
        ['completed', 'not_started'],
      );
      assert.equal(deployPosts(stack, second), 0);
    }),
  );

  for (const [what, lateMs, sent] of [
    ['is not sent if the deadline passes', 0, 0],
    ['is sent if the deadline is still to come', -15_000, 1],
  ] as const) {
    test(
      `a request ${what} while another deployment is in progress`,
      inVirtualTime(async (stack) => {
        const { world, sandbox, forward, start, until, result } = stack;
        const siteId = siteAfter(sandbox, BUILDING, FAILED, COMPLETED);
        const run = start({ siteIds: [siteId], ...WITHIN });
        await until('its reads', () => reads(sandbox, latest(siteId)).length > 2);
        await forward(run.startedMs + 2 * MINUTE + lateMs - world.clock.nowMs);
        // The other one ends.
        sandbox.act({ site: siteId });
        const { outcome, error, startedAt } = await result(run);
        assert.equal(deployPosts(stack, siteId), sent);
        if (sent === 1) return assert.equal(outcome, 'completed');
        assert.equal(error?.type, 'TooLate');
        assert.match(error?.message ?? '', afterDeadline(startedAt));
      }),
    );
  }

  for (const awayMs of [500, 2_500]) {
    test(
      `a request that waited ${awayMs} ms for a worker is not sent after the deadline`,
      inVirtualTime(async (stack) => {
        const { world, sandbox, forward, start, until, result } = stack;
        const siteId = siteAfter(sandbox, FAILED, COMPLETED);
        sandbox.fault({ route: 'latest', target: siteId, skip: 1, answer: { kind: 'true' }, delayMs: 900 });
        const run = start({ siteIds: [siteId], startDeploysWithinMs: 1_000 });
        const operation = await until('the operation', () => world.server.find(`deploy-site:${siteId}`));
        await until('the request', () =>
          operation.history.some((it) => JSON.stringify(it).includes('triggerDeployment')),
        );
        world.endWorkers();
        await forward(awayMs);
        world.addWorker({});
        const { outcome, error, deployments } = await result(run);
        assert.deepEqual([outcome, error?.type], ['not_started', 'TooLate']);
        assert.equal(deployments[0]?.trigger.ambiguous, false);
        assert.equal(deployPosts(stack, siteId), 0);
      }),
    );
  }

  test(
    'a run that is too late does not wait for the lock',
    inVirtualTime(async (stack) => {
      const { world, start, result } = stack;
      const { siteId, operationId } = await building(stack);
      const run = start({ siteIds: [siteId], startDeploysWithinMs: 1 });
      const late = await result(run);
      assert.deepEqual([late.outcome, late.error?.type], ['not_started', 'TooLate']);
      assert.equal(lockRequests(world.server.find(operationId)), 0);
      assert.ok(run.closedMs! - run.startedMs < 1_000);
      assert.equal(deployPosts(stack, siteId), 1);
    }),
  );

  test(
    'deploysUntil is a time of day in its time zone, after an instant',
    inVirtualTime(async (stack) => {
      const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
      const deploysUntil = { time: '06:00', timeZone: 'Europe/Berlin', after: '2026-02-28T08:00:00Z' };
      const { error } = await stack.result(stack.start({ siteIds: [siteId], deploysUntil }));
      assert.equal(error?.type, 'TooLate');
      assert.match(error?.message ?? '', /until 06:00 \(Europe\/Berlin\), which was 2026-03-01T05:00:00.000Z$/);
      assert.equal(deployPosts(stack, siteId), 0);
    }),
  );

  test(
    'a run that is too late makes no backup, which would be of no use',
    inVirtualTime(async (stack) => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      const deploysUntil = { time: '06:00', timeZone: 'Europe/Berlin', after: '2026-02-28T08:00:00Z' };
      const { error, backup, deployments } = await stack.result(
        stack.start({ serverId, siteIds: [siteId], deploysUntil }),
      );
      assert.match(error?.message ?? '', /^nothing was started: it is too late, .* until 06:00/);
      assert.deepEqual([error?.type, backup, deployments[0]?.outcome], ['TooLate', null, 'not_started']);
      assert.equal(began(stack.sandbox, 'backup', serverId).length, 0);
    }),
  );

  test(
    'a run whose worker was away too long after its backup deploys nothing, and says why',
    inVirtualTime(async (stack) => {
      const { world, sandbox, start, until, result: resultOf } = stack;
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      sandbox.script({ server: serverId }, { durationMs: MINUTE });
      const run = start({ serverId, siteIds: [siteId], backup: { maxAgeAtDeployMs: 5 * MINUTE } });
      await until('the backup', () => began(sandbox, 'backup', serverId).length > 0);
      world.restartWorkers(10 * MINUTE);
      const { outcome, error, backup, deployments } = await resultOf(run);
      assert.deepEqual([outcome, error?.type, backup?.outcome], ['not_started', 'TooLate', 'completed']);
      assert.match(error?.message ?? '', /the backup may be at most 5m old/);
      assert.deepEqual(
        deployments.map((it) => it.outcome),
        ['not_started'],
      );
      assert.equal(deployPosts(stack, siteId), 0);
    }),
  );
});
