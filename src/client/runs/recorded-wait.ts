/** What an operation waits for, from its newest events: it need not answer itself. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { readOfSummary } from '../../contract/read-summary.ts';
import { POOLED_WAIT_ACTIVITY } from '../../contract/names.ts';
import type { Execution } from '../../contract/operation.ts';
import type { PooledWait } from '../../contract/pooled-wait.ts';
import type { Waiting, WaitingForRead } from '../../contract/waiting.ts';
import { nextRead } from '../../rules/poll-state.ts';
import { decoded } from '../decode-payloads.ts';
import type { Session } from '../session.ts';
import { isOperation, type Events } from './run-history.ts';

/** Enough for what follows the start of a timer: its end, a few hints, and the tasks of both. */
const LATEST_EVENTS = 30;

/** The operation that a run works on. */
export interface Open extends Execution {
  type: string;
}

export function openOperation({ raw }: WorkflowExecutionDescription): Open | null {
  const child = raw.pendingChildren?.find(({ workflowTypeName }) => isOperation(workflowTypeName));
  const { workflowTypeName: type, workflowId, runId } = child ?? {};
  return type && workflowId && runId ? { type, workflowId, runId } : null;
}

export const isBackup = ({ type }: Open): boolean => type === 'backupServer';

/** The newest first. */
export async function latestEvents({ client, namespace }: Session, { workflowId, runId }: Open): Promise<Events> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: LATEST_EVENTS,
  });
  return history?.events ?? [];
}

/** @returns null if it does not wait for a read, and `other` if the events do not say for which */
export async function waitOf(client: Client, open: Open, events: Events): Promise<Waiting | 'other' | null> {
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

/** @returns null if the events do not say what it waits for */
export async function recordedWait(session: Session, open: Open): Promise<Waiting | null> {
  const wait = await waitOf(session.client, open, await latestEvents(session, open));
  return wait === 'other' ? null : wait;
}
