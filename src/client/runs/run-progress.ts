/** Follows a run in flight by Temporal's records, for displays. */
import type { WorkflowHandle } from '@temporalio/client';
import { lockIdOf } from '../../contract/ids.ts';
import type { RunResult } from '../../contract/run.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Session } from '../session.ts';
import { withLink } from '../ui-link.ts';
import { isBackup, latestEvents, openOperation, waitOf, withPooledProgress } from './recorded-wait.ts';
import type { TypedExecution } from '../lookups/runs.ts';
import { contactFields, isBeginning, reasonOfSilence } from './run-contact.ts';
import { historyFacts, type Events, type HistoryFacts } from './run-history.ts';
import { knownOf, withInput, withPart } from './run-result.ts';
import { describeRun, handleOf, statusOf, type RunStatus } from './run-status.ts';

/** While an operation waits, this asks Temporal once for each of its reads. */
export function followProgress(session: Session, handle: WorkflowHandle): () => Promise<RunStatus> {
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
  if (wait === 'unknown') return statusOf(session, described);
  const waiting = await withPooledProgress(session, open, wait);
  const contact = isUnattended(events) ? 'silent' : 'answers';
  return { result: withLink(session, result), waiting, ...(await contactFields(session, described, contact)) };
}

function resultOf(known: RunResult, facts: HistoryFacts, open: TypedExecution): RunResult {
  const result = facts.parts.reduce(withPart, withInput(known, facts));
  return { ...result, phase: isBackup(open) ? 'backup' : 'deploy' };
}

/** A deployment that never got an operation has no outcome in the history, so it looks like the next one. */
function isNextOf({ deployments }: RunResult, open: TypedExecution): boolean {
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
