/** How far a pooled wait is. Its workflow does not hear of the reads, but Temporal keeps the heartbeats of their worker. */
import { POOLED_WAIT_ACTIVITY } from '../../contract/names.ts';
import type { PooledProgress } from '../../contract/pooled-wait.ts';
import type { Waiting, WaitingForRead } from '../../contract/waiting.ts';
import { nextRead } from '../../rules/poll-state.ts';
import { assumeMade } from '../../rules/pooled-wait.ts';
import { decoded } from '../decode-payloads.ts';
import type { Session } from '../session.ts';

/** @returns the wait as it is now: a worker reads on time, and reports a changed status at once */
export async function withPooledProgress(
  { client }: Pick<Session, 'client'>,
  operation: { workflowId: string; runId: string },
  waiting: Waiting | null,
): Promise<Waiting | null> {
  if (waiting === null || !('pooled' in waiting)) return waiting;
  const { raw } = await client.workflow.getHandle(operation.workflowId, operation.runId).describe();
  const pending = raw.pendingActivities?.find((it) => it.activityType?.name === POOLED_WAIT_ACTIVITY);
  const progress = await decoded<PooledProgress>(client, pending?.heartbeatDetails?.payloads);
  return progress === null ? onBeat(waiting, Date.now()) : readsNow(waiting, progress, Date.now());
}

/** Before the first heartbeat. */
export function onBeat(
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
  const { state } = assumeMade(progress, tries, nowMs);
  return {
    kind,
    try: Math.min(state.made + 1, tries),
    tries,
    lastStatus: progress.lastStatus ?? lastStatus,
    lastReadAt: progress.lastReadAt ?? lastReadAt,
    nextReadAt: new Date(nextRead(state).atMs).toISOString(),
  };
}
