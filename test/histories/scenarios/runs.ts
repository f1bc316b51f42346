/** What a run does around its operations: its parts, its lock, its cancellation. */
import { backupServerId, deploySiteId, runEndId, sharedBackupId } from '../../../src/contract/ids.ts';
import type { Run } from '../../../src/starter.ts';
import { fresh } from '../../support/fresh.ts';
import { queuedFor } from '../../support/queued.ts';
import { resetToBeginning } from '../../support/reset.ts';
import { deliver } from '../deliver.ts';
import { waitingFor } from '../reach.ts';
import { ended, type Scenario } from '../scenario.ts';
import { HEARTBEAT } from '../configuration.ts';
import { PACE, type Stage } from '../stage.ts';

/** A run whose deployment stays in progress. */
async function building(stage: Stage) {
  const siteId = fresh('a');
  stage.sandbox.script({ site: siteId }, { ends: 'never' });
  const run = await stage.start({ siteIds: [siteId], deploy: { ...PACE, tries: 200 } });
  await waitingFor(run, 'deployment');
  return { siteId, run, operation: { workflowId: deploySiteId(siteId) } };
}

/** @returns the id of what announced the end of a run */
async function announced({ workflow }: Stage['client'], { workflowId }: Run): Promise<string> {
  const { runId } = await workflow.getHandle(workflowId).describe();
  const id = runEndId(workflowId, runId);
  await workflow.getHandle(id).result();
  return id;
}

export const RUNS: Scenario[] = [
  {
    name: 'two-sites',
    async play({ start, client }) {
      const [serverId, ...siteIds] = [fresh('s'), fresh('a'), fresh('a')];
      const run = await start({ serverId, siteIds, heartbeat: HEARTBEAT, meta: { commit: 'ab12' } });
      await ended(run, 'completed');
      const workflowId = await announced(client, run);
      return [run, { workflowId: backupServerId(serverId) }, { workflowId: deploySiteId(siteIds[1]) }, { workflowId }];
    },
  },
  {
    name: 'keeps-going',
    async play({ start, sandbox, client }) {
      const [serverId, first, second] = [fresh('s'), fresh('a'), fresh('a')];
      sandbox.script({ site: first }, { ends: 'failed' });
      const run = await start({ serverId, siteIds: [first, second], keepGoing: true });
      await ended(run, 'DeploymentFailed');
      return [run, { workflowId: await announced(client, run) }];
    },
  },
  {
    name: 'wrong-input',
    async play({ client }) {
      const workflowId = 'deploy:34:by-hand';
      const args = [{ siteIds: [] }];
      await client.workflow.start('deployOnly', { workflowId, taskQueue: 'belay', args });
      await client.workflow
        .getHandle(workflowId)
        .result()
        .catch(() => undefined);
      return [{ workflowId }];
    },
  },
  {
    name: 'queued',
    async play(stage) {
      const { siteId, run } = await building(stage);
      const waiting = await stage.start({ siteIds: [siteId] });
      await queuedFor(waiting);
      stage.sandbox.script({ site: siteId }, { durationMs: 600 });
      stage.sandbox.finish({ site: siteId }, 'completed');
      await ended(run, 'completed');
      await ended(waiting, 'completed');
      return [waiting, { workflowId: deploySiteId(siteId) }];
    },
  },
  {
    name: 'cancelled-in-the-queue',
    async play(stage) {
      const { siteId, run, operation } = await building(stage);
      const waiting = await stage.start({ siteIds: [siteId] });
      await queuedFor(waiting);
      await waiting.cancel();
      await ended(waiting, 'Cancelled');
      stage.sandbox.finish({ site: siteId }, 'completed');
      await ended(run, 'completed');
      return [waiting, operation];
    },
  },
  {
    name: 'cancelled-late',
    async play(stage) {
      const { run, operation } = await building(stage);
      await run.cancel();
      await ended(run, 'Cancelled');
      return [run, operation];
    },
  },
  {
    name: 'reset',
    async play(stage) {
      const siteId = fresh('a');
      const run = await stage.start({ siteIds: [siteId] });
      await ended(run, 'completed');
      const runId = await resetToBeginning(stage.client, run.workflowId);
      await ended(stage.belay.get(run.workflowId, runId), 'OutcomeUnknown');
      return [{ workflowId: run.workflowId, runId }, { workflowId: deploySiteId(siteId) }];
    },
  },
  {
    name: 'followed',
    async play(stage) {
      const site = fresh('a');
      stage.sandbox.script({ site }, { durationMs: 0, ends: 'failed' }, { durationMs: 2_000 });
      stage.sandbox.act({ site });
      stage.sandbox.act({ site });
      const run = await stage.start({ siteIds: [site] }, 'watchDeployment');
      await ended(run, 'completed');
      return [run];
    },
  },
  {
    name: 'hinted',
    async play(stage) {
      const { siteId, run, operation } = await building(stage);
      stage.sandbox.finish({ site: siteId }, 'completed');
      const event = await deliver(stage, { siteId }, ['notify']);
      await ended(run, 'completed');
      return [run, operation, { workflowId: event }];
    },
  },
  {
    name: 'deleted',
    async play(stage) {
      const { siteId, run, operation } = await building(stage);
      stage.sandbox.remove({ site: siteId });
      const event = await deliver(stage, { kind: 'resource.deleted', siteId }, ['end-wait']);
      await ended(run, 'ResourceDeleted');
      return [run, operation, { workflowId: event }];
    },
  },
  {
    name: 'announced',
    async play(stage) {
      const [serverId, backupId] = [fresh('s'), fresh('b')];
      const event = await deliver(stage, { kind: 'backup.started', serverId, backupId }, ['share', 'notify']);
      return [{ workflowId: event }, { workflowId: sharedBackupId(serverId) }];
    },
  },
  {
    name: 'killed-worker',
    alone: true,
    async play(stage) {
      const { siteId, run, operation } = await building(stage);
      await stage.replaceWorker();
      stage.sandbox.finish({ site: siteId }, 'completed');
      await ended(run, 'completed');
      return [run, operation];
    },
  },
];
