/** Superseding among runs that freezes hold back, runs of rollouts, and messages that anyone may send. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { QUERIES, SIGNALS } from '../../../../src/contract/names.ts';
import type { NewerRun } from '../../../../src/features/superseding/shapes.ts';
import { siteTarget } from '../../../../src/contract/target.ts';
import type { ScheduledInput, ScheduledResult } from '../../../../src/features/schedules/shapes.ts';
import type { Explanation } from '../../../../src/contract/waiting.ts';
import { fresh } from '../../../support/fresh.ts';
import { startRollout, endOfRollout } from '../../plays/start-rollout.ts';
import { freezeNow, thawNow } from '../../stack/freeze-now.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { deployPosts } from '../runs/runs-that-wait.ts';
import { held, outcomes } from './held-locks.ts';
import { assertSuperseded, BLIND, SUPERSEDE } from './superseded.ts';

const MINUTE_MS = 60_000;

describe('superseding and freezes', () => {
  test(
    'a run that waits for a freeze is replaced',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      const asked = { siteIds: [fresh('a')], serverId: fresh('s'), ifFrozen: 'wait' as const };
      const older = stack.start(asked);
      await stack.forward(10 * MINUTE_MS);
      const newer = stack.start({ ...asked, ...SUPERSEDE });
      await assertSuperseded(stack, older, newer);
      assert.equal((await stack.result(newer)).outcome, 'completed');
      assert.equal(deployPosts(stack, asked.siteIds[0]!), 1);
    }),
  );

  test(
    'a run that a freeze refuses replaces no run',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      const siteIds = [fresh('a')];
      const older = stack.start({ siteIds, ifFrozen: 'wait' });
      await stack.forward(10 * MINUTE_MS);
      assert.equal((await stack.result(stack.start({ siteIds, ...SUPERSEDE }))).error?.type, 'Frozen');
      assert.equal((await stack.result(older)).outcome, 'completed');
    }),
  );

  test(
    'an older run that comes to the lock after a newer one has begun is replaced',
    inVirtualTime(async (stack) => {
      const siteId = fresh('a');
      const override = { freezes: ['freeze:all'], reason: 'a fix', by: 'ana' };
      stack.sandbox.script({ site: siteId }, { ends: 'never' }, {});
      freezeNow(stack.world.server);
      const older = stack.start({ siteIds: [siteId], ifFrozen: 'wait' });
      await stack.forward(MINUTE_MS);
      const newer = stack.start({ siteIds: [siteId], override, ...SUPERSEDE });
      await stack.until('its request', () => deployPosts(stack, siteId) === 1);
      await thawNow(stack.world.server);
      const { error, supersededBy } = await stack.result(older);
      assert.deepEqual([error?.type, supersededBy?.runId], ['Superseded', newer.runId]);
      assert.equal(newer.closedMs, null);
      stack.sandbox.finish({ site: siteId }, 'completed');
      assert.equal((await stack.result(newer)).outcome, 'completed');
      assert.equal(deployPosts(stack, siteId), 1);
    }, BLIND),
  );
});

describe('superseding', () => {
  for (const [where, options] of [
    ['that a search finds', {}],
    ['that waits in a queue', BLIND],
  ] as const) {
    test(
      `a run of a rollout ${where} is not replaced`,
      inVirtualTime(async (stack) => {
        const lock = await held(stack, 'deployment');
        const [serverId, siteIds] = [fresh('s'), [lock.id]];
        const waves = [{ name: 'all', targets: [{ serverId, siteIds }] }];
        const limits = { maxAtOnce: 1, maxFailures: 0, onFailures: 'stop' } as const;
        const rollout = startRollout(stack.world.server, { name: 'r', fleet: 'f', key: 'k', waves, ...limits });
        await stack.until('its request for the lock', () => lock.requests() === 1);
        const newer = stack.start({ serverId, siteIds, ...SUPERSEDE });
        await stack.until('its request for the lock', () => lock.requests() === 2);
        lock.finish();
        assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
        assert.deepEqual(await outcomes(stack, [newer]), ['completed']);
        assert.equal(lock.begun(), 3);
      }, options),
    );
  }

  test(
    'a forged message replaces no run',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const waiter = await lock.queueUp();
      const { workflowId, runId } = lock.holder;
      const work: NewerRun['work'] = {
        ...{ type: 'deployOnly', service: 'http://service', serverId: null, targets: [siteTarget(lock.id)] },
        ...{ startedAt: new Date(waiter.startedMs + 1_000).toISOString(), supersedes: true, hasBegun: false },
      };
      const forged: unknown[] = [
        undefined,
        null,
        {},
        { workflowId, runId },
        { workflowId, runId: 'nonsense', work },
        { workflowId: '', runId, work },
        { workflowId, runId, work: { ...work, supersedes: 'true' } },
        { workflowId, runId, work: { ...work, service: 'http://other' } },
        { workflowId, runId, work: { ...work, type: 'other' } },
        { workflowId, runId, work: { ...work, targets: [] } },
        { workflowId, runId, work: { ...work, targets: [{}] } },
        { workflowId, runId, work: { ...work, startedAt: 'now' } },
        { workflowId, runId, work: { ...work, startedAt: new Date(waiter.startedMs - 1).toISOString() } },
      ];
      for (const message of forged) stack.signal(waiter.workflowId, SIGNALS.superseded, message);
      for (const message of [...forged, { workflowId, runId, work }])
        stack.signal(lock.lockId, SIGNALS.superseded, message);
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder, waiter]), ['completed', 'completed']);
    }),
  );

  test(
    'a firing of a schedule whose run is replaced ends well, so that its schedule does not pause',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const input: ScheduledInput = {
        ...{ fleet: 'f', schedule: 'hourly', when: '0 * * * *', timeZone: 'UTC', catchUpMs: 60 * MINUTE_MS },
        slot: { granularity: 'instant', times: [] },
        start: { type: 'deployOnly', input: { siteIds: [lock.id], ...SUPERSEDE } },
      };
      const firing = stack.startByHand('runScheduled', 'scheduled:f:hourly', input);
      await stack.until('its request for the lock', () => lock.requests() === 1);
      const newer = lock.start(SUPERSEDE);
      const { outcome, superseded } = await stack.result<ScheduledResult>(firing);
      assert.deepEqual([outcome, superseded], ['not_started', true]);
      assert.ok(firing.outcome !== null && firing.outcome !== 'terminated' && 'result' in firing.outcome);
      lock.finish();
      assert.deepEqual(await outcomes(stack, [lock.holder, newer]), ['completed', 'completed']);
    }),
  );

  test(
    'a run that was replaced answers by which one',
    inVirtualTime(async (stack) => {
      const lock = await held(stack, 'deployment');
      const older = await lock.queueUp();
      const newer = lock.start(SUPERSEDE);
      await assertSuperseded(stack, older, newer);
      const { sentence } = await stack.query<Explanation>(older.workflowId, QUERIES.why);
      assert.equal(sentence, `finished: not_started, replaced by "${newer.workflowId}"`);
      lock.finish();
      await outcomes(stack, [lock.holder, newer]);
    }),
  );
});
