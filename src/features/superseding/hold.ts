/** How a run replaces older ones, and learns that a newer one replaces it. */
import { ApplicationFailure } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  defineSignal,
  getExternalWorkflowHandle,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { SIGNALS } from '../../contract/names.ts';
import { ROLLOUT_PREFIX } from '../../contract/ids.ts';
import type { Execution } from '../../contract/operation.ts';
import type { NewerRun, RunWork } from './shapes.ts';
import { newerRunIn, shortWork, settleQueue, supersedes } from './rules.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import { signalOlderRuns } from '../../workflows/activity-proxies.ts';
import type { Ending } from '../../workflows/cancellation.ts';
import { isAfterReset, wasReset } from '../../workflows/reset.ts';
import type { SettleQueue } from '../../workflows/lock/release.ts';
import type { Hold } from '../../workflows/run/hooks.ts';
import type { RunState } from '../../workflows/run/run-state.ts';

const supersededSignal = defineSignal<[NewerRun]>(SIGNALS.superseded);

const REPLACEABLE_TYPES = ['backupThenDeploy', 'deployOnly'];

/** @returns null if the run neither replaces others nor is replaced. A rollout counts on each of its runs. */
function workOf({ type, input, targets, plan, service, cancellation }: RunState): RunWork | null {
  const { parent, startTime } = workflowInfo();
  if (!REPLACEABLE_TYPES.includes(type) || parent?.workflowId.startsWith(ROLLOUT_PREFIX) === true) return null;
  return {
    type,
    service: service.service,
    serverId: input.serverId ?? null,
    targets: [...targets],
    startedAt: startTime.toISOString(),
    // A run that was reset sends nothing, so it must replace nothing.
    supersedes: plan.supersede && !isAfterReset(),
    hasBegun: cancellation.hasBegun,
  };
}

export function supersedingHold(run: RunState): Hold {
  const { cancellation, result } = run;
  let deployment: Execution | 'starting' | null = null;
  let newest: NewerRun | null = null;
  let hasReplaced = false;

  const supersede = ({ workflowId, runId }: Execution): void =>
    cancellation.endInstead(() => {
      result.supersededBy = { workflowId, runId };
      return concludeSuperseded({ workflowId, runId });
    });

  onNewerRun(async (newer) => {
    await condition(() => deployment !== 'starting');
    const work = workOf(run);
    if (work === null || !supersedes(newer, { runId: workflowInfo().runId, work })) return;
    if (deployment === null || deployment === 'starting') return supersede(newer);
    // Only the deployment in flight knows whether it has sent its request, so it decides for itself.
    newest = newer;
    await signalSuperseded(deployment, newer);
  });

  return {
    /** A search finds the runs that wait without a lock or for another lock. The queues of locks do the rest. */
    async begin(awaitsPeople) {
      // A run that people have not approved must replace nothing.
      if (awaitsPeople || hasReplaced) return null;
      hasReplaced = true;
      const work = workOf(run);
      if (work === null || !run.plan.supersede || wasReset()) return null;
      const { workflowId, runId } = workflowInfo();
      await signalOlderRuns({ workflowId, runId, work }).catch(() => undefined);
      return null;
    },
    /** Holders of locks get the run's work. */
    carries() {
      const work = workOf(run);
      const short = work === null ? undefined : shortWork(work);
      return short === undefined ? {} : { work: short };
    },
    deploys(child) {
      deployment = child;
    },
    deployed({ outcome, error, trigger }) {
      deployment = null;
      if (error?.type === 'Superseded' && newest !== null) return supersede(newest);
      const sentNothing = outcome === 'not_started' && trigger.attempts === 0;
      if (!sentNothing) cancellation.begin();
    },
  };
}

/** Ends a deployment that has not sent its request when a newer run replaces its run. */
export const endForNewerRun = ({ cancellation }: { cancellation: Ending }): void =>
  onNewerRun((newer) => Promise.resolve(cancellation.endInstead(() => concludeSuperseded(newer))));

/**
 * Newer waiters replace older ones in the queue of a lock, and may replace the run that holds the lock.
 *
 * @param work the work of the run that holds the lock; if it is absent, nothing replaces that run
 */
export function settleForNewerRuns({ work }: { work?: RunWork }): SettleQueue {
  const { parent } = workflowInfo();
  const holder =
    work === undefined || parent === undefined ? null : { workflowId: parent.workflowId, runId: parent.runId, work };
  let isTold = false;
  return (waiters) => {
    const { queue, superseded, replacesHolder } = settleQueue(waiters, holder);
    const sent = superseded.map(({ older, newer }) => signalSuperseded(older, newer));
    if (holder !== null && replacesHolder !== null && !isTold) {
      isTold = true;
      sent.push(signalSuperseded(holder, replacesHolder));
    }
    return { queue, sent };
  };
}

/* The signal by which a newer run takes the place of an older one. */

const concludeSuperseded = ({ workflowId }: Execution): Conclusion =>
  conclude('not_started', 'Superseded', `replaced by a newer run before it began: ${workflowId}`);

function onNewerRun(handle: (newer: NewerRun) => Promise<void>): void {
  setHandler(
    supersededSignal,
    async (message) => {
      const newer = newerRunIn(message);
      if (newer !== null) await CancellationScope.nonCancellable(() => handle(newer));
    },
    { description: 'A newer run covers this one, and takes its place if it has not begun.' },
  );
}

/** If the older run has ended or cannot take signals, it is left alone. */
async function signalSuperseded(older: Execution, newer: NewerRun): Promise<void> {
  try {
    await getExternalWorkflowHandle(older.workflowId, older.runId).signal(supersededSignal, newer);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
  }
}
