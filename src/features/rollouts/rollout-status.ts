/** The current status of a rollout: its own answer, else what Temporal's records show. */
import {
  WorkflowFailedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import pMap from 'p-map';
import { type ErrorType, ROLLOUT_TYPE } from '../../contract/names.ts';
import type { RunError } from '../../contract/run.ts';
import type { RolloutMemo, RolloutProgress, RolloutResult, TargetResult } from './shapes.ts';
import { emptyRollout } from '../../contract/results.ts';
import type { RolloutWaiting } from '../../contract/waiting.ts';
import { countTargets } from '../../contract/tally.ts';
import { BelayError } from '../../contract/errors.ts';
import { withLink } from '../../client/ui-link.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { askProgress, silence, type Contact } from '../../client/runs/run-status.ts';
import { lookUpServerRun } from './look-up-server-run.ts';

export interface RolloutStatus {
  /** While it runs, `outcome` is null and `phase` shows how far it is. */
  result: RolloutResult;
  waiting: RolloutWaiting | null;
  contact: Contact;
}

/** @throws BelayError `NotFound` if the id belongs to something else */
export async function describeRollout(handle: WorkflowHandle): Promise<WorkflowExecutionDescription> {
  const described = await handle.describe();
  if (described.type === ROLLOUT_TYPE) return described;
  const remedy = 'use an id from `belay rollout list`';
  throw new BelayError('NotFound', `${handle.workflowId} is not a rollout but a ${described.type}: ${remedy}`);
}

export async function rolloutStatus(session: Session, handle: WorkflowHandle): Promise<RolloutStatus> {
  const described = await describeRollout(handle);
  const { workflowId, runId } = described;
  const known = knownRollout(described);
  if (described.status.name !== 'RUNNING') {
    const result = await closedRollout(session, described, known);
    return { result: withLink(session, result), waiting: null, contact: 'closed' };
  }
  const progress = await askProgress<RolloutProgress>(session, { workflowId, runId });
  if (progress === null) {
    return { result: withLink(session, known), waiting: null, contact: await silence(session, described) };
  }
  return { result: withLink(session, progress.result), waiting: progress.waiting, contact: 'answers' };
}

/** What Temporal's own record shows of a rollout. */
export function knownRollout(described: Omit<WorkflowExecutionInfo, 'raw'>): RolloutResult {
  const { workflowId, runId, memo, startTime, closeTime } = described;
  const { name = null, fleet = null, attempt = 1 } = (memo ?? {}) as Partial<RolloutMemo>;
  return emptyRollout({
    workflowId,
    runId,
    name,
    fleet,
    attempt,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  });
}

async function closedRollout(
  session: Session,
  { workflowId, runId }: WorkflowExecutionDescription,
  known: RolloutResult,
): Promise<RolloutResult> {
  try {
    return (await session.client.workflow.getHandle(workflowId, runId).result()) as RolloutResult;
  } catch (failure) {
    if (!(failure instanceof WorkflowFailedError)) throw failure;
    const { cause } = failure;
    if (cause instanceof ApplicationFailure) {
      const result = cause.details?.[0] as RolloutResult | undefined;
      return result ?? { ...known, error: { type: cause.type as ErrorType, message: cause.message } };
    }
    // A terminated rollout left no result, but a worker can still answer from its history.
    const last = (await askProgress<RolloutProgress>(session, { workflowId, runId }))?.result ?? known;
    const found = await pMap(last.targets, (target) => lookUpServerRun(session, target), IN_PARALLEL);
    const running = found.filter(({ isRunning }) => isRunning).map(({ target }) => target.workflowId);
    const named = `${running.slice(0, 3).join(', ')}${running.length > 3 ? ' and others' : ''}`;
    const runs = running.length === 0 ? '' : `; still running: ${named}`;
    const error: RunError = {
      type: 'Terminated',
      message: `the rollout was terminated: ${cause?.message ?? failure.message}${runs}`,
    };
    const targets = found.map(({ target }) => leftBehind(target));
    return { ...last, ...countTargets(targets), targets, outcome: 'unknown', phase: 'done', error };
  }
}

/** After a termination, runs in progress continue, and servers that had not started never will. */
function leftBehind(target: TargetResult): TargetResult {
  if (target.outcome !== null) return target;
  const outcome = target.startedAt === null ? 'not_started' : 'unknown';
  const deployments = target.deployments.map((it) => ({ ...it, outcome: it.outcome ?? outcome }));
  return { ...target, outcome, deployments };
}
