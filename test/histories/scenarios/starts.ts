/** Runs that are not started, and what is started again. */
import assert from 'node:assert/strict';
import { reportId, runWorkflowId } from '../../../src/contract/ids.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { resetToBeginning } from '../../support/reset.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { TASK_QUEUE } from '../../support/world.ts';
import { FROZEN_SITE, MEASURED_HEARTBEAT, PUT_OFF_HEARTBEAT, REPORTED_SITE } from '../configuration.ts';
import { waitingFor } from '../reach.ts';
import { ended, type Kept, type Scenario } from '../scenario.ts';
import { PACE, type Stage } from '../stage.ts';

/** A run that does not begin, because of its input. */
const refused = (name: string, expected: Parameters<typeof ended>[1], input: Partial<RunInput>): Scenario => ({
  name,
  async play({ start }) {
    const run = await start({ siteIds: [fresh('a')], ...input });
    await ended(run, expected);
    return [run];
  },
});

async function reportOf({ client }: Stage, workflowId: string): Promise<Kept> {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  return { workflowId: reportId(workflowId, runId) };
}

const REFUSED: Scenario[] = [
  refused('taken-up-too-late', 'NoWorker', { startWithinMs: 1 }),
  refused('before-a-restore', 'OutcomeUnknown', { epoch: 'before' }),
  refused('without-its-heartbeat', 'Usage', { heartbeat: 'none' }),
  refused('until-six', 'completed', { deploysUntil: { time: '06:00', timeZone: 'Europe/Berlin' } }),
];

const AGAIN: Scenario[] = [
  {
    // It announced its end before.
    name: 'reset-after-its-end',
    async play(stage) {
      const siteId = fresh('a');
      stage.sandbox.script({ site: siteId }, { ends: 'failed' });
      const run = await stage.start({ siteIds: [siteId] });
      await ended(run, 'DeploymentFailed');
      const runId = await resetToBeginning(stage.client, run.workflowId);
      await ended(stage.belay.get(run.workflowId, runId), 'OutcomeUnknown');
      return [{ workflowId: run.workflowId, runId }];
    },
  },
  {
    // The run of its server was started before.
    name: 'rollout-reset',
    async play(stage) {
      const options = { backup: PACE, deploy: PACE };
      const rollout = await stage.belay.rollouts.start(rolloutOf(servers(1), { options }));
      assert.equal((await endOf(rollout)).outcome, 'completed');
      const runId = await resetToBeginning(stage.client, rollout.workflowId);
      assert.equal((await endOf(stage.belay.rollouts.get(rollout.workflowId, runId))).outcome, 'unknown');
      return [{ workflowId: rollout.workflowId, runId }];
    },
  },
  {
    // More begin at once than a worker carries, so some of them wait. Most are refused at once.
    name: 'admitted-later',
    alone: true,
    async play(stage) {
      const waited = async (): Promise<Kept | null> => {
        const crowd = Array.from({ length: 60 }, (_, at) => (at % 6 === 5 ? fresh('a') : FROZEN_SITE));
        const ids = await Promise.all(crowd.map((siteId) => startedAtOnce(stage, siteId)));
        await Promise.all(
          ids.map((id) =>
            stage.belay
              .get(id)
              .result()
              .catch(() => undefined),
          ),
        );
        for (const workflowId of ids) if (await wasAdmittedLater(stage, workflowId)) return { workflowId };
        return null;
      };
      return [await eventually('a run that waits', waited)];
    },
  },
];

/** Without the questions that a starter asks first. */
async function startedAtOnce({ client }: Stage, siteId: string): Promise<string> {
  const workflowId = runWorkflowId('deployOnly', { siteIds: [siteId] }, fresh('k'));
  const args = [{ siteIds: [siteId], deploy: PACE }];
  await client.workflow.start('deployOnly', { workflowId, taskQueue: TASK_QUEUE, args });
  return workflowId;
}

async function wasAdmittedLater({ client }: Stage, workflowId: string): Promise<boolean> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).some((it) => it.activityTaskScheduledEventAttributes?.activityType?.name === 'admitRun');
}

const REPORTED: Scenario[] = [
  {
    // Each of its calls is put off once.
    name: 'reported-to-two',
    async play(stage) {
      stage.sandbox.script({ site: REPORTED_SITE }, { durationMs: 4_000 });
      const more = { heartbeat: PUT_OFF_HEARTBEAT, commit: 'ab'.repeat(20) };
      const run = await stage.start({ serverId: fresh('s'), siteIds: [REPORTED_SITE], ...more });
      await ended(run, 'completed');
      const report = await reportOf(stage, run.workflowId);
      const told = (await stage.client.workflow.getHandle(report.workflowId).result()) as string[];
      assert.equal(told.length, 2, told.join(', '));
      return [run, report];
    },
  },
  {
    // It reports nothing of its end, so that is looked for.
    name: 'run-terminated',
    isLong: true,
    async play(stage) {
      const siteId = fresh('a');
      const run = await stage.start({
        siteIds: [siteId],
        heartbeat: MEASURED_HEARTBEAT,
        deploy: { intervalMs: 1_000, tries: 30 },
      });
      await waitingFor(run, 'deployment');
      const report = await reportOf(stage, run.workflowId);
      await stage.client.workflow.getHandle(run.workflowId).terminate('by an operator');
      await stage.client.workflow.getHandle(report.workflowId).result();
      return [run, report];
    },
  },
];

export const STARTS: Scenario[] = [...REFUSED, ...AGAIN, ...REPORTED];
