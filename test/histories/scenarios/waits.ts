/** What a run or rollout waits for and what lets it off: freezes, people, newer runs; and its report. */
import { fresh } from '../../support/fresh.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { resultOf } from '../../support/outcome.ts';
import { queuedFor } from '../../support/queued.ts';
import { deploySiteId, freezeId, reportId } from '../../../src/contract/ids.ts';
import { decided, question, reached, waitingFor } from '../reach.ts';
import { ended, type Scenario } from '../scenario.ts';
import { APPROVAL, FROZEN_SITE, MEASURED_HEARTBEAT } from '../configuration.ts';
import { PACE } from '../stage.ts';

export const WAITS: Scenario[] = [
  {
    name: 'frozen-and-thawed',
    async play({ belay, start }) {
      const siteId = fresh('a');
      const scope = { kind: 'site', id: siteId } as const;
      await belay.freezes.begin({ scope, forMs: 3_600_000, reason: 'inventory' });
      const run = await start({ siteIds: [siteId], ifFrozen: 'wait' });
      await reached(run, 'frozen');
      await belay.freezes.thaw(scope, { reason: 'counted' });
      await ended(run, 'completed');
      return [run, { workflowId: freezeId(scope) }];
    },
  },
  {
    name: 'let-off',
    async play({ start }) {
      const override = { freezes: ['stock'], reason: 'an urgent repair' };
      const run = await start({ siteIds: [FROZEN_SITE], override });
      await ended(run, 'completed');
      return [run, { workflowId: deploySiteId(FROZEN_SITE) }];
    },
  },
  {
    name: 'approved',
    async play(stage) {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      const run = await stage.start({ serverId, siteIds: [siteId], approval: APPROVAL });
      await decided(stage, 'approve', run.workflowId);
      await ended(run, 'completed');
      return [run, { workflowId: deploySiteId(siteId) }];
    },
  },
  {
    name: 'not-approved',
    async play(stage) {
      const run = await stage.start({ siteIds: [fresh('a')], approval: APPROVAL });
      await decided(stage, 'reject', run.workflowId);
      await ended(run, 'ApprovalRejected');
      return [run];
    },
  },
  {
    name: 'approved-by-wave',
    async play(stage) {
      const [canary, rest] = servers(2);
      const waves = [
        { name: 'canary', targets: [canary] },
        { name: 'rest', approval: APPROVAL, targets: [rest!] },
      ];
      const rollout = await stage.belay.rollouts.start(
        rolloutOf([], { waves, approval: APPROVAL, options: { backup: PACE, deploy: PACE } }),
      );
      const hash = await decided(stage, 'approve', rollout.workflowId);
      await question(stage, rollout.workflowId, hash);
      await decided(stage, 'approve', rollout.workflowId);
      await endOf(rollout);
      return [rollout];
    },
  },
  {
    name: 'superseded',
    async play({ start, sandbox }) {
      const siteId = fresh('a');
      sandbox.script({ site: siteId }, { ends: 'never' }, { durationMs: 600, ends: 'completed' });
      const first = await start({ siteIds: [siteId], deploy: { ...PACE, tries: 200 } });
      await waitingFor(first, 'deployment');
      const older = await start({ siteIds: [siteId] });
      await queuedFor(older);
      const newer = await start({ siteIds: [siteId], supersede: true });
      await ended(older, 'Superseded');
      sandbox.finish({ site: siteId }, 'completed');
      await resultOf(first);
      await ended(newer, 'completed');
      return [older];
    },
  },
  {
    name: 'reported',
    async play({ start, client }) {
      const run = await start({ serverId: fresh('s'), siteIds: [fresh('a')], heartbeat: MEASURED_HEARTBEAT });
      await ended(run, 'completed');
      const { runId } = await client.workflow.getHandle(run.workflowId).describe();
      const workflowId = reportId(run.workflowId, runId);
      await client.workflow.getHandle(workflowId).result();
      return [run, { workflowId }];
    },
  },
];
