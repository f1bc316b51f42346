/** How a run replaces older ones, and learns that a newer one replaces it. */
import { condition, workflowInfo } from '@temporalio/workflow';
import { ROLLOUT_PREFIX } from '../../../contract/ids/workflow-ids.ts';
import type { NewerRun, RunWork, SupersededBy } from '../../../contract/superseding.ts';
import { supersedes } from '../../../rules/superseding.ts';
import { shortWork } from '../../../rules/superseding-message.ts';
import { isAfterReset, wasReset } from '../../common/reset.ts';
import { signalOlderRuns } from '../../common/activity-proxies.ts';
import type { DeploymentResult } from '../../../contract/run.ts';
import { onNewerRun, signalSuperseded, type Superseding } from '../../common/superseding.ts';
import type { RunState } from './run-state.ts';

interface Started {
  workflowId: string;
  firstExecutionRunId: string;
}

export interface OwnDeployments {
  /** Call it around the start of each deployment. */
  starting<T extends Started>(this: void, start: () => Promise<T>): Promise<T>;
  /** Call it when the deployment has ended. */
  ended(this: void, deployment: DeploymentResult): void;
}

type Known = Pick<RunState, 'type' | 'input' | 'targets' | 'plan' | 'service'>;

const TYPES = ['backupThenDeploy', 'deployOnly'];

/** @returns null if the run takes no part: a rollout counts on its runs */
function workOf({ type, input, targets, plan, service }: Known, { hasBegun }: Superseding): RunWork | null {
  const { parent, startTime } = workflowInfo();
  if (!TYPES.includes(type) || parent?.workflowId.startsWith(ROLLOUT_PREFIX) === true) return null;
  return {
    type,
    service: service?.service ?? input.service ?? null,
    serverId: input.serverId ?? null,
    targets: [...targets],
    startedAt: startTime.toISOString(),
    // A run that was reset sends nothing, so it replaces nothing.
    supersedes: plan.supersede === true && !isAfterReset(),
    hasBegun,
  };
}

/** What its messages to the holders of locks carry. */
export function shortWorkOf(run: Known, superseding: Superseding): { work?: RunWork } {
  const work = workOf(run, superseding);
  const short = work === null ? undefined : shortWork(work);
  return short === undefined ? {} : { work: short };
}

/** A deployment in flight decides itself: only it knows whether it has sent its request. */
export function listenForNewer(run: () => Known, superseding: Superseding): OwnDeployments {
  let deployment: SupersededBy | 'starting' | null = null;
  let newest: NewerRun | null = null;
  onNewerRun(async (newer) => {
    await condition(() => deployment !== 'starting');
    const work = workOf(run(), superseding);
    if (work === null || !supersedes(newer, { runId: workflowInfo().runId, work })) return;
    if (deployment === null || deployment === 'starting') return superseding.supersede(newer);
    newest = newer;
    await signalSuperseded(deployment, newer);
  });
  return {
    async starting(start) {
      deployment = 'starting';
      try {
        const child = await start();
        deployment = { workflowId: child.workflowId, runId: child.firstExecutionRunId };
        return child;
      } catch (error) {
        deployment = null;
        throw error;
      }
    },
    ended({ outcome, error, trigger }) {
      deployment = null;
      if (error?.type === 'Superseded' && newest !== null) return superseding.supersede(newest);
      const sentNothing = outcome === 'not_started' && trigger.attempts === 0;
      if (!sentNothing) superseding.begin();
    },
  };
}

/** Those that wait without a lock, or for another one, are found by a search; the queues of locks do the rest. */
export async function supersedeOlder(run: RunState): Promise<void> {
  const work = workOf(run, run.superseding);
  if (work === null || run.plan.supersede !== true || wasReset()) return;
  const { workflowId, runId } = workflowInfo();
  await signalOlderRuns({ workflowId, runId, work }).catch(() => undefined);
}
