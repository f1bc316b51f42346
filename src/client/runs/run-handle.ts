/** A handle to one run. */
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import type { RunResult } from '../../contract/run.ts';
import { shellWord } from '../../contract/safe-text.ts';
import { linksOf, withLink, type Links } from '../ui-link.ts';
import type { Session } from '../session.ts';
import { awaitResult, cancelOpen, inTime, soon, type WaitOptions } from '../await-result.ts';
import { BelayError } from '../../contract/errors.ts';
import { emptyResult } from '../../contract/results.ts';
import {
  failedResult,
  describeRun,
  isBeginning,
  knownOf,
  statusOf,
  completedByHistory,
  type RunStatus,
  handleOf,
  contactFields,
  reasonOfSilence,
  withInput,
  withPart,
} from './run-status.ts';
import { TIMING } from '../../contract/timing.ts';
import { lockIdOf } from '../../contract/ids.ts';
import {
  withPooledProgress,
  isBackup,
  latestEvents,
  openOperation,
  waitOf,
  type OpenOperation,
} from './recorded-wait.ts';
import { historyFacts, type Events, type HistoryFacts } from './run-history.ts';

/** Every method throws a BelayError if it fails. */
export interface Run {
  readonly workflowId: string;
  /** Null for the latest run with this id. */
  readonly runId: string | null;
  /** True if this call joined a run that had been started before. */
  readonly attached: boolean;
  /** Where people see the run. `ui` is its page in the Temporal UI, or null if the address of the UI is not known. */
  readonly links: Links;
  /** Waits for the result. Throws unless the outcome is `completed`; the error carries the result. */
  result(options?: WaitOptions): Promise<RunResult>;
  status(): Promise<RunStatus>;
  /**
   * Returns the status for a display that follows the run, at most ten seconds old. It comes from Temporal's records,
   * so it asks no worker while an operation of the run waits for its next read. It lacks what that operation reports
   * about itself.
   */
  progress(): Promise<RunStatus>;
  /**
   * Cancels the run. An operation that has begun continues at the service. Resolves at once; the run ends when a worker
   * takes the request up. Returns false if the run had already ended.
   */
  cancel(): Promise<boolean>;
}

export function createRun(session: Session, ids: Pick<Run, 'workflowId' | 'runId' | 'attached'>): Run {
  const { workflowId, runId } = ids;
  const handle = session.client.workflow.getHandle(workflowId, runId ?? undefined);
  const progress = followProgress(session, handle);
  return {
    ...ids,
    links: linksOf(session, ids),
    result: (options = {}) => waitForRun(session, { handle, runId }, options),
    status: () => soon(session, `read ${workflowId}`, () => currentStatus(session, handle)),
    progress: () => soon(session, `read ${workflowId}`, progress),
    cancel: () => cancelOpen(session, handle, describeRun),
  };
}

async function currentStatus(session: Session, handle: WorkflowHandle): Promise<RunStatus> {
  return statusOf(session, await describeRun(handle));
}

function waitForRun(session: Session, ref: RunRef, options: WaitOptions): Promise<RunResult> {
  const { handle } = ref;
  return awaitResult<RunResult>(
    session,
    {
      handle,
      check: () => describeRun(handle),
      failed: (error) => runError(session, ref, error),
      stopped: () => stoppedWaiting(session, ref),
      lost: (message) => new BelayError('TemporalUnreachable', message, withLink(session, resultWithIds(ref))),
    },
    options,
  );
}

interface RunRef {
  handle: WorkflowHandle;
  runId: string | null;
}

async function runError(session: Session, ref: RunRef, error: WorkflowFailedError): Promise<BelayError> {
  const result = await soon(session, 'read the run', async () => {
    const described = await ref.handle.describe();
    return completedByHistory(session, described, failedResult(error, knownOf(described)));
  }).catch(() => failedResult(error, resultWithIds(ref)));
  const { type, message } = result.error ?? { type: 'Internal', message: 'the run failed without a reason' };
  return new BelayError(type, message, withLink(session, result));
}

/**
 * Carries the latest known result, so that the caller can decide what to do. If the run has ended meanwhile, it carries
 * only the ids, because a caller that stops waiting gets no verdict.
 */
async function stoppedWaiting(session: Session, ref: RunRef): Promise<BelayError> {
  const { handle } = ref;
  const status = await inTime(currentStatus(session, handle));
  const known = status === null || status.contact === 'closed' ? withLink(session, resultWithIds(ref)) : status.result;
  return new BelayError(
    'StoppedWaiting',
    `stopped waiting, the run continues; wait again with \`belay wait ${shellWord(handle.workflowId)}\``,
    known,
  );
}

function resultWithIds({ handle: { workflowId }, runId }: RunRef): RunResult {
  return emptyResult({ workflowId, runId });
}

/* Reads the status of a run in flight from Temporal's records, for displays that follow it. */

/** While an operation waits, this asks Temporal once for each of its reads. */
function followProgress(session: Session, handle: WorkflowHandle): () => Promise<RunStatus> {
  const isUnattended = watchTasks();
  let last: { status: RunStatus; untilMs: number } | null = null;
  return async () => {
    if (last === null || Date.now() >= last.untilMs) {
      const status = await progressOf(session, handle, isUnattended);
      last = { status, untilMs: changesAtMs(status) };
    }
    return last.status;
  };
}

function changesAtMs({ waiting }: RunStatus): number {
  const { readMs, maxAgeMs } = TIMING.progress;
  if (waiting === null || waiting.kind === 'lock') return 0;
  // Many runs may wait for admission or for the same freeze, and each question is a query.
  const changesMs = 'nextReadAt' in waiting ? Date.parse(waiting.nextReadAt) + readMs : Infinity;
  return Math.min(changesMs, Date.now() + maxAgeMs);
}

async function progressOf(session: Session, handle: WorkflowHandle, isUnattended: IsUnattended): Promise<RunStatus> {
  const described = await describeRun(handle);
  if (described.status.name !== 'RUNNING') return statusOf(session, described);
  const known = knownOf(described);
  const why = await reasonOfSilence(session, described);
  if (why !== 'silent')
    return { result: withLink(session, known), waiting: null, ...(await contactFields(session, described, why)) };
  if (isBeginning(described)) return { result: withLink(session, known), waiting: null, contact: 'answers' };
  const open = openOperation(described);
  // Without an operation, only the run itself knows what it waits for.
  if (open === null) return statusOf(session, described);
  const result = resultOf(known, await historyFacts(session.client, handleOf(session, described)), open);
  if (!isNextOf(result, open)) return statusOf(session, described);
  const events = await latestEvents(session, open);
  const wait = await waitOf(session.client, open, events);
  // Only the operation itself knows since when it is parked.
  if (wait === 'other') return statusOf(session, described);
  const waiting = await withPooledProgress(session, open, wait);
  const contact = isUnattended(events) ? 'silent' : 'answers';
  return { result: withLink(session, result), waiting, ...(await contactFields(session, described, contact)) };
}

function resultOf(known: RunResult, facts: HistoryFacts, open: OpenOperation): RunResult {
  const result = facts.parts.reduce(withPart, withInput(known, facts));
  return { ...result, phase: isBackup(open) ? 'backup' : 'deploy' };
}

/** A deployment that never got an operation has no outcome in the history, so it looks like the next one. */
function isNextOf({ deployments }: RunResult, open: OpenOperation): boolean {
  const next = deployments.find(({ outcome }) => outcome === null);
  return isBackup(open) || (next !== undefined && lockIdOf(next.target) === open.workflowId);
}

/** True if no worker has completed the same workflow task for a while, as far as the calls so far have seen. */
type IsUnattended = (events: Events) => boolean;

function watchTasks(): IsUnattended {
  let seen: { task: string; sinceMs: number } | null = null;
  return (events) => {
    const newest = events.find(
      (it) =>
        it.workflowTaskScheduledEventAttributes ??
        it.workflowTaskStartedEventAttributes ??
        it.workflowTaskCompletedEventAttributes ??
        it.workflowTaskTimedOutEventAttributes ??
        it.workflowTaskFailedEventAttributes,
    );
    if (newest === undefined || newest.workflowTaskCompletedEventAttributes) seen = null;
    else if (seen?.task !== String(newest.eventId)) seen = { task: String(newest.eventId), sinceMs: Date.now() };
    return seen !== null && Date.now() - seen.sinceMs >= TIMING.progress.silentMs;
  };
}
