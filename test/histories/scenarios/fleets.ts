/** Rollouts and the firings of schedules. */
import assert from 'node:assert/strict';
import { rolloutPauseId } from '../../../src/contract/ids/workflow-ids.ts';
import { SCHEDULED_TYPE } from '../../../src/contract/names.ts';
import type { Rollout } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { TASK_QUEUE } from '../../support/world.ts';
import { deliver } from '../deliver.ts';
import type { Scenario } from '../scenario.ts';
import { FROZEN_SITE, PACE, type Stage } from '../stage.ts';

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
  await rollout.pause(ANNE);
  await eventually('the end of the first', async () => (await rollout.status()).result.servers.completed === 1);
  return rollout;
}

async function fire({ client }: Stage, schedule: string, siteId: string): Promise<string> {
  const workflowId = fresh('firing');
  const named = { fleet: 'shop', schedule, when: '30 2 * * *', timeZone: 'Europe/Berlin', catchUpMs: 3_600_000 };
  const slot = { granularity: 'day', times: ['02:30'] };
  const start = { type: 'deployOnly', input: { siteIds: [siteId], deploy: PACE } };
  const args = [{ ...named, slot, start }];
  const handle = await client.workflow.start(SCHEDULED_TYPE, { workflowId, taskQueue: TASK_QUEUE, args });
  await handle.result().catch(() => undefined);
  return workflowId;
}

export const FLEETS: Scenario[] = [
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
    name: 'fired',
    play: async (stage) => [{ workflowId: await fire(stage, 'nightly', fresh('a')) }],
  },
  {
    name: 'fired-twice',
    async play(stage) {
      const siteId = fresh('a');
      await fire(stage, 'twice', siteId);
      return [{ workflowId: await fire(stage, 'twice', siteId) }];
    },
  },
  {
    name: 'fired-in-a-freeze',
    play: async (stage) => [{ workflowId: await fire(stage, 'frozen', FROZEN_SITE) }],
  },
];
