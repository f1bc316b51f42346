/** Rollouts and the firings of schedules. */
import assert from 'node:assert/strict';
import { defineSearchAttributeKey } from '@temporalio/common';
import { rolloutPauseId, runWorkflowId } from '../../../src/contract/ids.ts';
import { ROLLOUT_TYPE, SCHEDULED_TYPE } from '../../../src/contract/names.ts';
import type { ScheduledResult } from '../../../src/features/schedules/shapes.ts';
import type { Rollout, Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { TASK_QUEUE } from '../../support/world.ts';
import { deliver } from '../deliver.ts';
import { reached, startedServer, waitingFor } from '../reach.ts';
import type { Scenario } from '../scenario.ts';
import { FROZEN_SITE } from '../configuration.ts';
import { PACE, type Stage } from '../stage.ts';

const OPTIONS = { backup: PACE, deploy: PACE };
const ANNE = { by: 'anne', reason: 'the shop is slow' };

const begin = ({ belay }: Stage, ...[targets, more]: Parameters<typeof rolloutOf>): Promise<Rollout> =>
  belay.rollouts.start(rolloutOf(targets, { options: OPTIONS, ...more }));

async function ended(rollout: Rollout, outcome: string): Promise<void> {
  const result = await endOf(rollout);
  assert.equal(result.outcome, outcome, JSON.stringify(result.error));
}

/** Two servers in two waves, paused after the first. */
async function paused(stage: Stage) {
  const [first, second] = servers(2);
  const waves = [first, second!].map((it, index) => ({ name: `w${index}`, targets: [it] }));
  const rollout = await begin(stage, [], { waves });
  await startedServer(rollout);
  await rollout.pause(ANNE);
  await eventually('the end of the first', async () => (await rollout.status()).result.servers.completed === 1);
  return rollout;
}

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const FIRED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

const deploying = (siteId: string) => ({ type: 'deployOnly', input: { siteIds: [siteId], deploy: PACE } });

/** The last half past two that is over, as clocks show it there. */
const HALF_PAST_TWO = new Date(Math.floor((Date.now() - 2.5 * HOUR_MS) / DAY_MS) * DAY_MS + 2.5 * HOUR_MS);

/** A schedule fires as planned, and what it starts ends. @returns the id of the firing, and its result */
async function fire({ client }: Stage, schedule: string, start: object, catchUpMs = DAY_MS) {
  const workflowId = fresh('firing');
  const named = { fleet: 'shop', schedule, when: '30 2 * * *', timeZone: 'UTC', catchUpMs };
  const slot = { granularity: 'day', times: ['02:30'] };
  const handle = await client.workflow.start(SCHEDULED_TYPE, {
    ...{ workflowId, taskQueue: TASK_QUEUE, args: [{ ...named, slot, start }] },
    typedSearchAttributes: [{ key: FIRED_AT, value: HALF_PAST_TWO }],
  });
  const result = (await handle.result().catch(() => null)) as ScheduledResult | null;
  return { workflowId, result };
}

const ROLLOUTS: Scenario[] = [
  {
    name: 'two-waves',
    async play(stage) {
      const [canary, ...rest] = servers(3);
      const waves = [
        { name: 'canary', targets: [canary] },
        { name: 'rest', targets: rest },
      ];
      const rollout = await begin(stage, [], { waves });
      await ended(rollout, 'completed');
      return [rollout];
    },
  },
  {
    name: 'stopped-and-retried',
    async play(stage) {
      const targets = servers(3);
      stage.sandbox.script({ site: targets[0].siteIds[0]! }, { ends: 'failed' }, { ends: 'completed' });
      const rollout = await begin(stage, targets, { maxAtOnce: 1 });
      await ended(rollout, 'failed');
      const retried = await stage.belay.rollouts.retry(rollout.workflowId);
      await ended(retried, 'completed');
      return [retried];
    },
  },
  {
    name: 'stopped',
    async play(stage) {
      const targets = servers(2);
      stage.sandbox.script({ server: targets[0].serverId }, { ends: 'failed' });
      const rollout = await begin(stage, targets, { maxAtOnce: 1 });
      await ended(rollout, 'failed');
      return [rollout];
    },
  },
  {
    name: 'paused-by-failures',
    async play(stage) {
      const targets = servers(2);
      stage.sandbox.script({ server: targets[0].serverId }, { ends: 'failed' });
      const rollout = await begin(stage, targets, { maxAtOnce: 1, onFailures: 'pause' });
      await eventually('the pause', async () => (await rollout.status()).result.phase === 'paused');
      const { runId } = await stage.client.workflow.getHandle(rollout.workflowId).describe();
      const notice = rolloutPauseId(rollout.workflowId, runId, 1);
      await stage.client.workflow.getHandle(notice).result();
      await rollout.resume(ANNE);
      await ended(rollout, 'failed');
      return [rollout, { workflowId: notice }];
    },
  },
  {
    name: 'paused-and-resumed',
    async play(stage) {
      const rollout = await paused(stage);
      await rollout.resume(ANNE);
      await ended(rollout, 'completed');
      return [rollout];
    },
  },
  {
    name: 'aborted',
    async play(stage) {
      const rollout = await paused(stage);
      await rollout.abort(ANNE);
      await endOf(rollout);
      return [rollout];
    },
  },
  {
    name: 'held-server',
    async play(stage) {
      const [first, second] = servers(2);
      stage.sandbox.script({ server: first.serverId }, { durationMs: 4_000 });
      const rollout = await begin(stage, [first, second!], { maxAtOnce: 1 });
      const event = await deliver(stage, { kind: 'alert.fired', serverId: second!.serverId }, ['hold']);
      await eventually('the hold', async () => (await rollout.status()).result.decisions.length >= 1);
      await rollout.resume({ ...ANNE, serverId: second!.serverId });
      await ended(rollout, 'completed');
      return [rollout, { workflowId: event }];
    },
  },
  {
    // Nobody releases the server, so the rollout asks, and goes on without it.
    name: 'held-and-skipped',
    async play(stage) {
      const [first, second] = servers(2);
      stage.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const waits = { backup: { intervalMs: 1_000, tries: 300 }, deploy: PACE };
      const more = { maxAtOnce: 1, onFailures: 'pause', options: waits } as const;
      const rollout = await begin(stage, [first, second!], more);
      await eventually('the backup', () => stage.sandbox.journal.find(({ began }) => began?.target === first.serverId));
      await deliver(stage, { kind: 'alert.fired', serverId: second!.serverId }, ['hold']);
      stage.sandbox.finish({ server: first.serverId }, 'completed');
      await reached(rollout, 'paused');
      await rollout.resume(ANNE);
      await ended(rollout, 'not_started');
      return [rollout];
    },
  },
  {
    name: 'aborted-under-way',
    async play(stage) {
      const [first, second] = servers(2);
      const rollout = await begin(stage, [first, second!], { maxAtOnce: 1 });
      await eventually('the backup', () => stage.sandbox.journal.find(({ began }) => began?.target === first.serverId));
      await rollout.abort(ANNE);
      await ended(rollout, 'cancelled');
      return [rollout];
    },
  },
];

const FIRINGS: Scenario[] = [
  {
    name: 'fired',
    play: async (stage) => [await fire(stage, 'nightly', deploying(fresh('a')))],
  },
  {
    name: 'fired-twice',
    async play(stage) {
      const start = deploying(fresh('a'));
      await fire(stage, 'twice', start);
      const again = await fire(stage, 'twice', start);
      assert.equal(again.result?.alreadyStarted, true);
      return [again];
    },
  },
  {
    name: 'fired-in-a-freeze',
    async play(stage) {
      const firing = await fire(stage, 'frozen', deploying(FROZEN_SITE));
      assert.ok(firing.result?.frozen !== undefined);
      return [firing];
    },
  },
  {
    name: 'fired-too-late',
    async play(stage) {
      const firing = await fire(stage, 'late', deploying(fresh('a')), 0);
      assert.equal(firing.result, null);
      return [firing];
    },
  },
  {
    name: 'fired-rollout',
    async play(stage) {
      const input = { ...rolloutOf(servers(1), { options: OPTIONS }), key: undefined };
      const firing = await fire(stage, 'rollouts', { type: ROLLOUT_TYPE, input });
      assert.equal(firing.result?.outcome, 'completed');
      return [firing];
    },
  },
  {
    // A newer run deploys the site instead of the one that the schedule started.
    name: 'fired-and-replaced',
    async play(stage) {
      const siteId = fresh('a');
      stage.sandbox.script({ site: siteId }, { ends: 'never' }, { durationMs: 600 });
      stage.sandbox.act({ site: siteId });
      const firing = fire(stage, 'replaced', deploying(siteId));
      const older = await eventually('the run', () => runOf(stage, siteId, 'replaced'));
      await waitingFor(older, 'baseline');
      const newer = await stage.start({ siteIds: [siteId], supersede: true });
      const { workflowId, result } = await firing;
      assert.equal(result?.superseded, true);
      stage.sandbox.finish({ site: siteId }, 'completed');
      await newer.result();
      return [{ workflowId }];
    },
  },
];

/** What a schedule started for a site, or null. */
async function runOf({ belay, client }: Stage, siteId: string, schedule: string): Promise<Run | null> {
  const date = HALF_PAST_TWO.toISOString().slice(0, 10);
  const workflowId = runWorkflowId('deployOnly', { siteIds: [siteId] }, `shop.${schedule}.${date}`);
  const found = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch(() => null);
  return found === null ? null : belay.get(workflowId);
}

export const FLEETS: Scenario[] = [...ROLLOUTS, ...FIRINGS];
