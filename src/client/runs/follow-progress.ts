/** The status of a run in flight from Temporal's records, for those who follow it. */
import type { Client, WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { readOfSummary } from '../../contract/wording/read-summary.ts';
import { ADMISSION_ACTIVITY, POOLED_WAIT_ACTIVITY } from '../../contract/names.ts';
import { lockIdOf } from '../../contract/ids/workflow-ids.ts';
import type { RunResult } from '../../contract/run.ts';
import type { PooledWait } from '../../contract/polling/pooled-wait.ts';
import type { Waiting, WaitingForRead } from '../../contract/waiting.ts';
import { nextRead } from '../../rules/polling/poll-state.ts';
import { TIMING } from '../../contract/budgets/timing.ts';
import { decoded } from '../connection/decode-payloads.ts';
import { withPooledProgress } from './pooled-progress.ts';
import { withLink } from '../connection/ui-link.ts';
import type { Session } from '../connection/session.ts';
import { historyFacts, isOperation, type Events, type HistoryFacts } from './run-history.ts';
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

/** Enough for what follows the start of a timer: its end, a few hints, and the tasks of both. */
const LATEST_EVENTS = 30;
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
  const isBeginning = described.historyLength < FIRST_EVENTS && described.type !== 'watchDeployment';
  if (isBeginning && !awaitsAdmission(described) && known.phase !== 'frozen')
    return { result: withLink(session, known), waiting: null, contact: 'answers' };
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

const awaitsAdmission = ({ raw }: WorkflowExecutionDescription): boolean =>
  raw.pendingActivities?.some((it) => it.activityType?.name === ADMISSION_ACTIVITY) === true;

interface Open {
  type: string;
  workflowId: string;
  runId: string;
}

function openOperation({ raw }: WorkflowExecutionDescription): Open | null {
  const child = raw.pendingChildren?.find(({ workflowTypeName }) => isOperation(workflowTypeName));
  const { workflowTypeName: type, workflowId, runId } = child ?? {};
  return type && workflowId && runId ? { type, workflowId, runId } : null;
}

const isBackup = ({ type }: Open): boolean => type === 'backupServer';

function resultOf(known: RunResult, facts: HistoryFacts, open: Open): RunResult {
  const result = facts.parts.reduce(withPart, withInput(known, facts));
  return { ...result, phase: isBackup(open) ? 'backup' : 'deploy' };
}

/** A deployment before it that never had an operation has no outcome in the history. */
function isNextOf({ deployments }: RunResult, open: Open): boolean {
  const next = deployments.find(({ outcome }) => outcome === null);
  return isBackup(open) || (next !== undefined && lockIdOf(next.target) === open.workflowId);
}

/** The newest first. */
async function latestEvents({ client, namespace }: Session, { workflowId, runId }: Open): Promise<Events> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: LATEST_EVENTS,
  });
  return history?.events ?? [];
}

/** @returns null if it does not wait for a read, and `other` if the events do not say for which */
async function waitOf(client: Client, open: Open, events: Events): Promise<Waiting | 'other' | null> {
  const begun = events.find((it) => it.timerStartedEventAttributes ?? isPooled(it));
  if (begun === undefined) return events.length < LATEST_EVENTS ? null : 'other';
  const { summary } = begun.userMetadata ?? {};
  const text = (await decoded<string>(client, summary ? [summary] : [])) ?? '';
  const read = readOfSummary(text, isBackup(open) ? 'backup' : 'deployment');
  if (read === null) return 'other';
  const beganMs = tsToMs(begun.eventTime);
  if (isPooled(begun)) return pooledWait(client, read, begun);
  const dueMs = beganMs + tsToMs(begun.timerStartedEventAttributes?.startToFireTimeout);
  return { ...read, nextReadAt: new Date(dueMs).toISOString() };
}

/** Where it began. */
async function pooledWait(
  client: Client,
  read: Omit<WaitingForRead, 'nextReadAt'>,
  { activityTaskScheduledEventAttributes: scheduled }: Events[number],
): Promise<Waiting | 'other'> {
  const wait = await decoded<PooledWait>(client, scheduled?.input?.payloads);
  if (wait === null) return 'other';
  const { state } = wait.progress;
  const nextReadAt = new Date(nextRead(state).atMs).toISOString();
  return { ...read, nextReadAt, pooled: { everyMs: state.schedule.intervalMs } };
}

const isPooled = (event: Events[number]): boolean =>
  event.activityTaskScheduledEventAttributes?.activityType?.name === POOLED_WAIT_ACTIVITY;

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
