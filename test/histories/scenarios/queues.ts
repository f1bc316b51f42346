/** What a run does at a lock, and with a backup that it shares, adopts or lacks. */
import assert from 'node:assert/strict';
import { deploySiteId } from '../../../src/contract/ids.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import type { Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { queuedFor } from '../../support/queued.ts';
import { backupOutside } from '../../support/sites.ts';
import { deliver } from '../deliver.ts';
import { waitingFor } from '../reach.ts';
import { ended, type Kept, type Scenario } from '../scenario.ts';
import { PACE, type Stage } from '../stage.ts';

type Target = Parameters<Stage['sandbox']['finish']>[0];

const MANY = { intervalMs: 1_000, tries: 300 };

/** A run whose backup goes on until a scenario ends it. */
async function backingUp(stage: Stage, serverId: string): Promise<Run> {
  stage.sandbox.script({ server: serverId }, { ends: 'never' }, { durationMs: 600 });
  const run = await stage.start({ serverId, backup: MANY });
  await waitingFor(run, 'backup');
  return run;
}

/** A run that holds the lock of its site until a scenario ends that. */
async function deploying(stage: Stage, siteId: string): Promise<Run> {
  stage.sandbox.script({ site: siteId }, { ends: 'never' }, { durationMs: 600 });
  const run = await stage.start({ siteIds: [siteId], deploy: MANY });
  await waitingFor(run, 'deployment');
  return run;
}

/** Ends at the service what a run waits for, and waits for the run. */
async function finished({ sandbox }: Stage, target: Target, run: Run): Promise<void> {
  sandbox.finish(target, 'completed');
  await ended(run, 'completed');
}

/** Two runs of a site that another party deploys: the first one waits for that, and the second one replaces it. */
function replacing(name: string, keeps: (runs: { older: Run; newer: Run; siteId: string }) => Kept[]): Scenario {
  return {
    name,
    async play(stage) {
      const siteId = fresh('a');
      stage.sandbox.script({ site: siteId }, { ends: 'never' }, { durationMs: 600 });
      stage.sandbox.act({ site: siteId });
      const older = await stage.start({ siteIds: [siteId], deploy: { ...MANY, baselineWaitMs: 600_000 } });
      await waitingFor(older, 'baseline');
      const newer = await stage.start({ siteIds: [siteId], supersede: true });
      const { supersededBy } = await ended(older, 'Superseded');
      assert.equal(supersededBy?.workflowId, newer.workflowId);
      await finished(stage, { site: siteId }, newer);
      return keeps({ older, newer, siteId });
    },
  };
}

const LOCKS: Scenario[] = [
  {
    name: 'lock-busy',
    async play(stage) {
      const siteId = fresh('a');
      const holder = await deploying(stage, siteId);
      const run = await stage.start({ siteIds: [siteId], ifBusy: 'fail' });
      await ended(run, 'Busy');
      await finished(stage, { site: siteId }, holder);
      return [run];
    },
  },
  {
    name: 'lock-busy-for-too-long',
    async play(stage) {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      const holder = await backingUp(stage, serverId);
      const run = await stage.start({ serverId, siteIds: [siteId], busyTimeoutMs: 2_000 });
      await ended(run, 'Busy');
      await finished(stage, { server: serverId }, holder);
      return [run];
    },
  },
  {
    // It has given up the lock when that is released to it, so it passes it on.
    name: 'released-too-late',
    async play(stage) {
      const [siteId, other] = [fresh('a'), fresh('a')];
      const holder = await deploying(stage, siteId);
      stage.sandbox.script({ site: other }, { ends: 'never' });
      const run = await stage.start({ siteIds: [siteId, other], busyTimeoutMs: 2_000, keepGoing: true, deploy: MANY });
      await waitingFor(run, 'deployment');
      const behind = await stage.start({ siteIds: [siteId] });
      await queuedFor(behind);
      await finished(stage, { site: siteId }, holder);
      await ended(behind, 'completed');
      stage.sandbox.finish({ site: other }, 'completed');
      await ended(run, 'Busy');
      return [run];
    },
  },
  {
    name: 'cancelled-before-its-backup',
    async play(stage) {
      const serverId = fresh('s');
      const holder = await backingUp(stage, serverId);
      const run = await stage.start({ serverId });
      await queuedFor(run);
      await run.cancel();
      await ended(run, 'Cancelled');
      await finished(stage, { server: serverId }, holder);
      return [run];
    },
  },
  {
    // It signals nobody, so the one behind it finds out by itself.
    name: 'behind-a-terminated-one',
    isLong: true,
    async play(stage) {
      const siteId = fresh('a');
      const holder = await deploying(stage, siteId);
      const run = await stage.start({ siteIds: [siteId] });
      await queuedFor(run);
      const operation = stage.client.workflow.getHandle(deploySiteId(siteId));
      const { runId } = await operation.describe();
      await operation.terminate('by an operator');
      await ended(holder, 'Terminated');
      await finished(stage, { site: siteId }, run);
      return [run, { workflowId: deploySiteId(siteId), runId }];
    },
  },
  {
    name: 'operation-terminated',
    async play(stage) {
      const siteId = fresh('a');
      const run = await deploying(stage, siteId);
      await stage.client.workflow.getHandle(deploySiteId(siteId)).terminate('by an operator');
      await ended(run, 'Terminated');
      return [run];
    },
  },
  replacing('replaced-at-the-site', ({ older, siteId }) => [older, { workflowId: deploySiteId(siteId) }]),
  replacing('replacing', ({ newer }) => [newer]),
];

/** A run of a server, with sites of its own. */
async function withSites(stage: Stage, serverId: string, more: Partial<RunInput> = {}): Promise<Run> {
  return stage.start({ serverId, siteIds: [fresh('a')], ...more });
}

const BACKUPS: Scenario[] = [
  {
    name: 'backup-failed',
    async play(stage) {
      const serverId = fresh('s');
      stage.sandbox.script({ server: serverId }, { ends: 'failed' });
      const run = await withSites(stage, serverId);
      const { deployments } = await ended(run, 'BackupFailed');
      assert.equal(deployments[0]?.outcome, 'not_started');
      return [run];
    },
  },
  {
    name: 'shared-and-failed',
    async play(stage) {
      const serverId = fresh('s');
      const holder = await backingUp(stage, serverId);
      const run = await withSites(stage, serverId);
      await queuedFor(run);
      stage.sandbox.finish({ server: serverId }, 'failed');
      await ended(holder, 'BackupFailed');
      assert.equal((await ended(run, 'BackupFailed')).backup?.source, 'shared');
      return [run];
    },
  },
  {
    // The one that made it gives up sooner than the one that shares it.
    name: 'shared-and-late',
    async play(stage) {
      const serverId = fresh('s');
      stage.sandbox.script({ server: serverId }, { ends: 'never' });
      const holder = await stage.start({ serverId, backup: { ...PACE, tries: 12 } });
      const run = await withSites(stage, serverId, { backup: MANY });
      await queuedFor(run);
      await ended(holder, 'BackupTimedOut');
      await waitingFor(run, 'backup');
      stage.sandbox.finish({ server: serverId }, 'completed');
      assert.equal((await ended(run, 'completed')).backup?.source, 'shared');
      return [run];
    },
  },
  {
    name: 'given-of-another-server',
    async play(stage) {
      const { backup } = await ended(await stage.start({ serverId: fresh('s') }), 'completed');
      const run = await withSites(stage, fresh('s'), { backup: { ...PACE, backupId: backup?.backupId ?? '' } });
      await ended(run, 'Usage');
      return [run];
    },
  },
  {
    // Its event came before, but it has ended.
    name: 'from-elsewhere-before',
    async play(stage) {
      const serverId = fresh('s');
      stage.sandbox.script({ server: serverId }, { durationMs: 0 });
      const backupId = backupOutside(stage.sandbox, serverId);
      await deliver(stage, { kind: 'backup.started', serverId, backupId }, ['share']);
      const run = await withSites(stage, serverId, { backup: MANY });
      const { backup } = await ended(run, 'completed');
      assert.deepEqual([backup?.source, backup?.backupId === backupId], ['created', false]);
      return [run];
    },
  },
  {
    name: 'too-old-to-deploy',
    async play(stage) {
      const serverId = fresh('s');
      const run = await withSites(stage, serverId, { startDeploysWithinMs: 1_000 });
      await eventually('the end', async () => (await run.status()).contact === 'closed');
      await ended(run, 'TooLate');
      return [run];
    },
  },
];

export const QUEUES: Scenario[] = [...LOCKS, ...BACKUPS];
