/** A handle to one rollout. */
import {
  type WorkflowHandle,
  type WorkflowFailedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import pMap from 'p-map';
import { type ErrorType, ROLLOUT_TYPE } from '../../contract/names.ts';
import type {
  DecisionInput,
  RolloutResult,
  RolloutMemo,
  RolloutPhase,
  RolloutProgress,
  TargetResult,
} from './shapes.ts';
import { emptyRollout, countTargets } from '../../contract/results.ts';
import { TIMING } from '../../contract/timing.ts';
import { plainText } from '../../contract/safe-text.ts';
import { awaitResult, cancelOpen, soon, type WaitOptions } from '../../client/await-result.ts';
import { BelayError } from '../../contract/errors.ts';
import { type Session, IN_PARALLEL } from '../../client/session.ts';
import { linksOf, type Links, withLink } from '../../client/ui-link.ts';
import { sendDecision } from '../../client/send-decision.ts';
import type { RolloutWaiting } from '../../contract/waiting.ts';
import { closedResult, knownOf } from '../../client/runs/run-result.ts';
import { isBeginning, reasonOfSilence, type Contact } from '../../client/runs/run-contact.ts';
import { askProgress, describeRun, handleOf, tryProgress } from '../../client/runs/run-status.ts';
import type { Listed } from '../../client/list-filter.ts';
import { describeOnly, resultIn, resultOr } from '../../client/read-workflow.ts';
import { isSameTarget, type Target } from '../../contract/target.ts';
import { type DecisionName, problemOfDecision } from './rules.ts';
import { ATTRIBUTE_KEYS } from '../../request/search-attributes.ts';

/** Every method throws a BelayError if it fails. */
export interface Rollout {
  /** The id of the rollout, for `get`, and for `belay wait` and `belay rollout status`. */
  readonly workflowId: string;
  /** Null for the latest attempt. */
  readonly runId: string | null;
  /** True if this call joined a rollout that had been started before. */
  readonly attached: boolean;
  /**
   * Where people see the rollout. `ui` is its page in the Temporal UI, or null if the address of the UI is not known.
   */
  readonly links: Links;
  /** Waits for the result. Throws unless the outcome is `completed`; the error carries the result as `rollout`. */
  result(options?: WaitOptions): Promise<RolloutResult>;
  /** Returns the current status: the rollout's own answer, or what Temporal's records show. */
  status(): Promise<RolloutStatus>;
  /** Starts no more servers until the rollout is resumed. Running servers continue. */
  pause(decision: DecisionInput): Promise<void>;
  /** Starts servers again. With `serverId`, releases that held server instead. Throws `Usage` for any other field. */
  resume(decision: DecisionInput): Promise<void>;
  /** Starts no more servers. Running servers finish. */
  abort(decision: DecisionInput): Promise<void>;
  /** Like `abort`, but without an author. Returns false if the rollout had already ended. */
  cancel(): Promise<boolean>;
}

export function createRollout(session: Session, ids: Pick<Rollout, 'workflowId' | 'runId' | 'attached'>): Rollout {
  const { workflowId, runId } = ids;
  const handle = session.client.workflow.getHandle(workflowId, runId ?? undefined);
  const decide = (name: DecisionName) => async (payload: DecisionInput) => {
    const problem = problemOfDecision(name, payload);
    if (problem !== null) throw new BelayError('Usage', problem);
    return sendDecision(session, {
      name,
      handle,
      payload,
      describe: describeRollout,
      lookAgain: 'belay rollout status',
    });
  };
  return {
    ...ids,
    links: linksOf(session, ids),
    result: (options = {}) =>
      waitForRollout(session, handle, emptyRollout({ workflowId, attached: ids.attached }), options),
    status: () => soon(session, `read ${workflowId}`, () => rolloutStatus(session, handle)),
    pause: decide('pause'),
    resume: decide('resume'),
    abort: decide('abort'),
    cancel: () => cancelOpen(session, handle, describeRollout),
  };
}

function waitForRollout(
  session: Session,
  handle: WorkflowHandle,
  ids: RolloutResult,
  options: WaitOptions,
): Promise<RolloutResult> {
  return awaitResult<RolloutResult>(
    session,
    {
      what: 'rollout',
      handle,
      ids,
      describe: () => describeRollout(handle),
      knownOf: knownRollout,
      status: () => rolloutStatus(session, handle),
      readFailed: async (failure) => failedRollout(session, await describeRollout(handle), failure),
      resultOf: resultOfFailure,
      error: (type, message, rollout) => new BelayError(type, message, null, { rollout }),
    },
    options,
  );
}

/* Returns a rollout's own answer to a query, or what Temporal's records show. */

export interface RolloutStatus {
  /** While the rollout runs, `outcome` is null and `phase` shows its progress. */
  result: RolloutResult;
  /** What the rollout waits for now. Null if it waits for nothing, has ended, or if nothing is known. */
  waiting: RolloutWaiting | null;
  /** Whether the rollout has ended, and if not, whether anyone answers for it. */
  contact: Contact;
}

/** @throws BelayError `NotFound` if the id belongs to something else */
export const describeRollout = (handle: WorkflowHandle): Promise<WorkflowExecutionDescription> =>
  describeOnly(handle, [ROLLOUT_TYPE], { what: 'rollout', remedy: 'use an id from `belay rollout list`' });

export async function rolloutStatus(session: Session, handle: WorkflowHandle): Promise<RolloutStatus> {
  return statusOfRollout(session, await describeRollout(handle));
}

export async function statusOfRollout(
  session: Session,
  described: WorkflowExecutionDescription,
): Promise<RolloutStatus> {
  const { workflowId, runId } = described;
  if (described.status.name !== 'RUNNING') {
    const result = await closedRollout(session, described);
    return { result: withLink(session, result), waiting: null, contact: 'closed' };
  }
  const known = knownRollout(described);
  const progress = await tryProgress<RolloutProgress>(session, { workflowId, runId });
  if (progress === null || progress === 'not_yet') {
    const contact = progress === null ? await whySilent(session, described) : 'answers';
    return { result: withLink(session, known), waiting: null, contact };
  }
  return { result: withLink(session, progress.result), waiting: progress.waiting, contact: 'answers' };
}

/** Nothing answers before the first workflow task is done, and a worker may need a moment for that. */
async function whySilent(session: Session, described: WorkflowExecutionDescription): Promise<Contact> {
  const why = await reasonOfSilence(session, described);
  const isNew = Date.now() - described.startTime.getTime() < TIMING.cli.beginsWithinMs;
  return why === 'silent' && isNew && isBeginning(described) ? 'answers' : why;
}

/** Knows only what Temporal's own records show. */
function knownRollout(described: Omit<WorkflowExecutionInfo, 'raw'>): RolloutResult {
  const { workflowId, runId, memo, startTime, closeTime, typedSearchAttributes } = described;
  const { name = null, fleet = null, attempt = 1 } = (memo ?? {}) as Partial<RolloutMemo>;
  return emptyRollout({
    workflowId,
    runId,
    name,
    fleet,
    attempt,
    phase: (typedSearchAttributes.get(ATTRIBUTE_KEYS.phase) ?? null) as RolloutPhase | null,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  });
}

/** Knows only what the list shows. */
export function listedRollout(info: Listed): RolloutResult {
  const { unreadable } = info;
  return { ...knownRollout(info), ...(unreadable === null ? {} : { unreadable }) };
}

const closedRollout = (session: Session, described: WorkflowExecutionDescription): Promise<RolloutResult> =>
  resultOr(handleOf(session, described), (failure) => failedRollout(session, described, failure));

/** A terminated rollout left no result, but a worker can still answer from its history. */
async function failedRollout(
  session: Session,
  described: WorkflowExecutionDescription,
  failure: WorkflowFailedError,
): Promise<RolloutResult> {
  const { workflowId, runId, status } = described;
  // Someone may have retried it meanwhile.
  if (status.name === 'RUNNING') return resultOfFailure(failure, emptyRollout({ workflowId }));
  const known = resultOfFailure(failure, knownRollout(described));
  if (failure.cause instanceof ApplicationFailure) return known;
  const { outcome, phase, error } = known;
  const last = (await askProgress<RolloutProgress>(session, { workflowId, runId }))?.result ?? known;
  const found = await pMap(last.targets, (target) => lookUpServerRun(session, target), IN_PARALLEL);
  const running = found.filter(({ isRunning }) => isRunning).map(({ target }) => target.workflowId);
  const named = `${running.slice(0, 3).join(', ')}${running.length > 3 ? ' and others' : ''}`;
  const runs = running.length === 0 ? '' : `; still running: ${named}`;
  const targets = found.map(({ target }) => leftBehind(target));
  return {
    ...last,
    ...countTargets(targets),
    targets,
    outcome,
    phase,
    error: error === null ? null : { ...error, message: `${error.message}${runs}` },
  };
}

/** @param known used if the rollout was terminated, or closed by Temporal, and left no result */
function resultOfFailure(failure: WorkflowFailedError, known: RolloutResult): RolloutResult {
  const { cause } = failure;
  if (cause instanceof ApplicationFailure) {
    const error = { type: cause.type as ErrorType, message: cause.message };
    return resultIn<RolloutResult>(failure) ?? { ...known, error };
  }
  const message = `the rollout was terminated: ${plainText(cause?.message ?? failure.message)}`;
  return { ...known, outcome: 'unknown', phase: 'done', error: { type: 'Terminated', message } };
}

/** After a termination, the runs in progress continue, and servers that had not started never will. */
function leftBehind(target: TargetResult): TargetResult {
  if (target.outcome !== null) return target;
  const outcome = target.startedAt === null ? 'not_started' : 'unknown';
  const deployments = target.deployments.map((it) => ({ ...it, outcome: it.outcome ?? outcome }));
  return { ...target, outcome, deployments };
}

/* Looks up the run of a server, which continues if its rollout is terminated or reset. */

export async function lookUpServerRun(
  { client }: Session,
  target: TargetResult,
): Promise<{ target: TargetResult; isRunning: boolean }> {
  const isRecorded = target.endedAt !== null && target.outcome !== 'unknown';
  if (isRecorded || target.workflowId === null) return { target, isRunning: false };
  const handle = client.workflow.getHandle(target.workflowId);
  try {
    const described = await describeRun(handle);
    if (described.status.name === 'RUNNING') return { target, isRunning: true };
    const { outcome, backup, deployments, error, endedAt } = await closedResult(handle, knownOf(described));
    // A person may have started another run under this id. Without a backup of the server, or without its targets, that run
    // completes nothing of the rollout.
    const isBackedUp = backup?.serverId === target.serverId;
    const ownOf = (asked: Target) =>
      deployments.find((it) => isSameTarget(it.target, asked) && (isBackedUp || it.outcome !== 'completed'));
    const known = target.deployments.map((it) => ({ ...it, outcome: ownOf(it.target)?.outcome ?? it.outcome }));
    const isWhole = target.deployments.every((it) => it.outcome === 'completed' || ownOf(it.target) !== undefined);
    if (outcome === 'completed' && !(isBackedUp && isWhole))
      return { target: { ...target, deployments: known }, isRunning: false };
    const found = { outcome, backup: backup?.outcome ?? null, deployments: known, error, endedAt };
    return { target: { ...target, ...found }, isRunning: false };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { target, isRunning: false };
    throw error;
  }
}
