/** Reads from the newest events of an operation what it waits for, so that the operation itself need not answer. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { readOfSummary } from '../../contract/read-summary.ts';
import { POOLED_WAIT_ACTIVITY } from '../../contract/names.ts';
import type { Execution } from '../../contract/operation.ts';
import type { TypedExecution } from '../lookups/runs.ts';
import type { PooledWait, PooledProgress } from '../../contract/polling.ts';
import type { Waiting, WaitingForRead } from '../../contract/waiting.ts';
import { nextRead, assumeAllAnswered } from '../../rules/poll-state.ts';
import { decoded } from '../decode-payloads.ts';
import type { Session } from '../session.ts';
import { isOperation, operationIn, type Events } from './run-history.ts';

/** These are enough for what follows the start of a timer: its end, a few hints, and the tasks of both. */
const LATEST_EVENTS = 30;

export function openOperation({ raw }: WorkflowExecutionDescription): TypedExecution | null {
  const child = raw.pendingChildren?.find(({ workflowTypeName }) => isOperation(workflowTypeName));
  const { workflowTypeName: type, workflowId, runId } = child ?? {};
  return type && workflowId && runId ? { type, workflowId, runId } : null;
}

export const isBackup = ({ type }: TypedExecution): boolean => type === 'backupServer';

/** @returns the newest one first */
export async function latestEvents({ client, namespace }: Session, { workflowId, runId }: Execution): Promise<Events> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: LATEST_EVENTS,
  });
  return history?.events ?? [];
}

/**
 * @returns null if the operation does not wait for a read, and `unknown` if the events do not say which read it waits for
 */
export async function waitOf(
  client: Client,
  open: TypedExecution,
  events: Events,
): Promise<Waiting | 'unknown' | null> {
  const begun = events.find((it) => it.timerStartedEventAttributes ?? isPooled(it));
  if (begun === undefined) return events.length < LATEST_EVENTS ? null : 'unknown';
  const { summary } = begun.userMetadata ?? {};
  const text = (await decoded<string>(client, summary ? [summary] : [])) ?? '';
  const read = readOfSummary(text, isBackup(open) ? 'backup' : 'deployment');
  if (read === null) return 'unknown';
  const beganMs = tsToMs(begun.eventTime);
  if (isPooled(begun)) return pooledWait(client, read, begun);
  const dueMs = beganMs + tsToMs(begun.timerStartedEventAttributes?.startToFireTimeout);
  // A read for a hint leaves the timer as it was, so the timer may name an older status, or none.
  const { lastStatus } = await operationIn(client, [...events].reverse());
  return { ...read, lastStatus: lastStatus ?? read.lastStatus, nextReadAt: new Date(dueMs).toISOString() };
}

async function pooledWait(
  client: Client,
  read: Omit<WaitingForRead, 'nextReadAt'>,
  { activityTaskScheduledEventAttributes: scheduled }: Events[number],
): Promise<Waiting | 'unknown'> {
  const wait = await decoded<PooledWait>(client, scheduled?.input?.payloads);
  if (wait === null) return 'unknown';
  const { state } = wait.progress;
  const nextReadAt = new Date(nextRead(state).atMs).toISOString();
  return { ...read, nextReadAt, pooled: { everyMs: state.schedule.intervalMs } };
}

const isPooled = (event: Events[number]): boolean =>
  event.activityTaskScheduledEventAttributes?.activityType?.name === POOLED_WAIT_ACTIVITY;

/** @returns null if the events do not say what the operation waits for */
export async function recordedWait(session: Session, open: TypedExecution): Promise<Waiting | null> {
  const wait = await waitOf(session.client, open, await latestEvents(session, open));
  return wait === 'unknown' ? null : wait;
}

/* Follows a pooled wait. Its workflow does not hear of the reads, but Temporal keeps the heartbeats of their worker. */

/** @returns the wait as it is now, because a worker reads on time and reports a changed status at once */
export async function withPooledProgress(
  { client }: Pick<Session, 'client'>,
  operation: { workflowId: string; runId: string },
  waiting: Waiting | null,
): Promise<Waiting | null> {
  if (waiting === null || !('pooled' in waiting)) return waiting;
  const { raw } = await client.workflow.getHandle(operation.workflowId, operation.runId).describe();
  const pending = raw.pendingActivities?.find((it) => it.activityType?.name === POOLED_WAIT_ACTIVITY);
  const progress = await decoded<PooledProgress>(client, pending?.heartbeatDetails?.payloads);
  return progress === null ? estimateReads(waiting, Date.now()) : readsNow(waiting, progress, Date.now());
}

/** Estimates the progress before the first heartbeat. */
export function estimateReads(
  { kind, tries, lastStatus, lastReadAt, ...began }: WaitingForRead,
  nowMs: number,
): WaitingForRead {
  const everyMs = began.pooled?.everyMs ?? Infinity;
  const dueMs = Date.parse(began.nextReadAt);
  const made = nowMs < dueMs ? 0 : Math.floor((nowMs - dueMs) / everyMs) + 1;
  const nextMs = made === 0 ? dueMs : dueMs + made * everyMs;
  const shown = { try: Math.min(began.try + made, tries), nextReadAt: new Date(nextMs).toISOString() };
  return { kind, tries, lastStatus, lastReadAt, ...shown };
}

export function readsNow(
  { kind, tries, lastStatus, lastReadAt }: WaitingForRead,
  progress: PooledProgress,
  nowMs: number,
): WaitingForRead {
  const { state } = assumeAllAnswered(progress, tries, nowMs);
  return {
    kind,
    try: Math.min(state.made + 1, tries),
    tries,
    lastStatus: progress.lastStatus ?? lastStatus,
    lastReadAt: progress.lastReadAt ?? lastReadAt,
    nextReadAt: new Date(nextRead(state).atMs).toISOString(),
  };
}
