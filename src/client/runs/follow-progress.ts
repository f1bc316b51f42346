/** The status of a run in flight from Temporal's records, for those who follow it. */
import type { WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { ADMISSION_ACTIVITY } from '../../contract/names.ts';
import { lockIdOf } from '../../contract/ids.ts';
import type { RunResult } from '../../contract/run.ts';
import { TIMING } from '../../contract/timing.ts';
import { withPooledProgress } from './pooled-progress.ts';
import { withLink } from '../ui-link.ts';
import type { Session } from '../session.ts';
import { isBackup, latestEvents, openOperation, waitOf, type Open } from './recorded-wait.ts';
import { historyFacts, type Events, type HistoryFacts } from './run-history.ts';
import {
  describeRun,
  handleOf,
  knownOf,
  missing,
  silence,
  statusOf,
  withInput,
  withPart,
  type RunStatus,
} from './run-status.ts';

/** A run with fewer has not got to its first operation yet. */
const FIRST_EVENTS = 12;

/** While an operation waits, Temporal is asked once for each of its reads. */
export function followProgress(session: Session, handle: WorkflowHandle): () => Promise<RunStatus> {
  const isIdle = idleness();
  let last: { status: RunStatus; untilMs: number } | null = null;
  return async () => {
    if (last === null || Date.now() >= last.untilMs) {
      const status = await progressOf(session, handle, isIdle);
      last = { status, untilMs: changesAtMs(status) };
    }
    return last.status;
  };
}

function changesAtMs({ waiting }: RunStatus): number {
  const { readMs, maxAgeMs } = TIMING.progress;
  if (waiting === null || waiting.kind === 'lock') return 0;
  // Many wait for admission or the same freeze, and each question is a query.
  const changesMs = 'nextReadAt' in waiting ? Date.parse(waiting.nextReadAt) + readMs : Infinity;
  return Math.min(changesMs, Date.now() + maxAgeMs);
}

async function progressOf(session: Session, handle: WorkflowHandle, isIdle: Idleness): Promise<RunStatus> {
  const described = await describeRun(handle);
  if (described.status.name !== 'RUNNING') return statusOf(session, described);
  const known = knownOf(described);
  const why = await silence(session, described);
  if (why !== 'silent')
    return { result: withLink(session, known), waiting: null, ...(await missing(session, described, why)) };
  if (isBeginning(described)) return { result: withLink(session, known), waiting: null, contact: 'answers' };
  const open = openOperation(described);
  // Without an operation, only the run itself knows what it waits for.
  if (open === null) return statusOf(session, described);
  const result = resultOf(known, await historyFacts(session.client, handleOf(session, described)), open);
  if (!isNextOf(result, open)) return statusOf(session, described);
  const events = await latestEvents(session, open);
  const begun = await waitOf(session.client, open, events);
  // Only the operation itself knows since when it is parked.
  if (begun === 'other') return statusOf(session, described);
  const waiting = await withPooledProgress(session, open, begun);
  const contact = isIdle(events) ? 'silent' : 'answers';
  return { result: withLink(session, result), waiting, ...(await missing(session, described, contact)) };
}

/**
 * Whether a worker is at one of its first steps, which take a moment. A run without such a step waits for something,
 * and only the run itself knows what.
 */
function isBeginning({ raw, historyLength, type }: WorkflowExecutionDescription): boolean {
  if (historyLength >= FIRST_EVENTS || type === 'watchDeployment') return false;
  const steps = raw.pendingActivities?.filter((it) => it.activityType?.name !== ADMISSION_ACTIVITY) ?? [];
  return steps.length > 0 || raw.pendingWorkflowTask != null;
}

function resultOf(known: RunResult, facts: HistoryFacts, open: Open): RunResult {
  const result = facts.parts.reduce(withPart, withInput(known, facts));
  return { ...result, phase: isBackup(open) ? 'backup' : 'deploy' };
}

/** A deployment before it that never had an operation has no outcome in the history. */
function isNextOf({ deployments }: RunResult, open: Open): boolean {
  const next = deployments.find(({ outcome }) => outcome === null);
  return isBackup(open) || (next !== undefined && lockIdOf(next.target) === open.workflowId);
}

type Idleness = (events: Events) => boolean;

/** Whether the same workflow task is not done for a while, as far as these calls have seen. */
function idleness(): Idleness {
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
