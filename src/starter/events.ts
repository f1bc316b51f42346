/** Events: one workflow for each delivery. Temporal decides in one step whether there is such a one already. */
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../contract.ts';
import { EVENT_TYPE, type EventInput, type EventMemo } from '../event-contract.ts';
import { eventId } from '../ids.ts';
import { plainText } from '../text.ts';
import { asBelayError, BelayError } from './errors.ts';
import { inputOf } from './history.ts';
import { quoted } from './list.ts';
import type { Session } from './session.ts';

/** A sender waits no longer than 15 s, and sends again. */
const TAKE_TIMEOUT_MS = 5_000;
const LIST_TIMEOUT_MS = 20_000;
const DEFAULT_LIMIT = 20;

export interface EventFilter {
  /** Received at or after this time, ISO 8601. */
  since?: string;
  /** Default 20. */
  limit?: number;
}

/** An event that was taken. */
export interface TakenEvent extends EventMemo {
  workflowId: string;
}

/** @returns whether it is new */
export async function takeEvent({ client, taskQueue }: Session, input: EventInput): Promise<boolean> {
  const { source, deliveryId, verified, receivedAt, event } = input;
  const memo: EventMemo = { source, verified, receivedAt, event };
  try {
    await client.withDeadline(Date.now() + TAKE_TIMEOUT_MS, () =>
      client.workflow.start(EVENT_TYPE, {
        workflowId: eventId(source, deliveryId),
        taskQueue,
        args: [input],
        memo: { ...memo },
        staticSummary: summaryOf(input),
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw asBelayError(error, 'take an event');
  }
}

/** When a delivery was taken; null where it never was. */
export async function takenAtMs({ client }: Session, source: string, deliveryId: string): Promise<number | null> {
  try {
    const described = await client.withDeadline(Date.now() + TAKE_TIMEOUT_MS, () =>
      client.workflow.getHandle(eventId(source, deliveryId)).describe(),
    );
    return described.startTime.getTime();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw asBelayError(error, 'look for an event');
  }
}

/** The newest first. */
export async function listEvents({ client }: Session, { since, limit }: EventFilter): Promise<TakenEvent[]> {
  const query = [
    `WorkflowType = ${quoted(EVENT_TYPE)}`,
    ...(since === undefined ? [] : [`StartTime >= ${quoted(since)}`]),
  ].join(' AND ');
  const most = limit ?? DEFAULT_LIMIT;
  const found: TakenEvent[] = [];
  try {
    await client.withDeadline(Date.now() + LIST_TIMEOUT_MS, async () => {
      for await (const info of client.workflow.list({ query, pageSize: Math.min(most, 100) })) {
        if (found.push(takenOf(info)) >= most) break;
      }
    });
    return found;
  } catch (error) {
    throw asBelayError(error, 'list events');
  }
}

/** With its redacted body. @throws BelayError `NotFound` */
export async function getEvent({ client }: Session, workflowId: string): Promise<EventInput> {
  const deadlineMs = Date.now() + LIST_TIMEOUT_MS;
  const handle = client.workflow.getHandle(workflowId);
  try {
    return await client.withDeadline(deadlineMs, async () => {
      const { type } = await handle.describe();
      const input = type === EVENT_TYPE ? await inputOf<EventInput>(handle) : null;
      if (input !== null) return input;
      throw new BelayError('NotFound', `${workflowId} is no event; belay events lists them`);
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw new BelayError('NotFound', `there is no event ${workflowId}; belay events lists them`);
    }
    throw asBelayError(error, `read ${workflowId}`);
  }
}

function takenOf({ workflowId, memo }: WorkflowExecutionInfo): TakenEvent {
  return { workflowId, ...(memo as unknown as EventMemo) };
}

function summaryOf({ event: { kind, serverId, siteId, backupId }, source }: EventInput): string {
  const named = [
    ...(serverId === null ? [] : [`server ${plainText(serverId, 30)}`]),
    ...(siteId === null ? [] : [`site ${plainText(siteId, 30)}`]),
    ...(backupId === null ? [] : [`backup ${plainText(backupId, 30)}`]),
  ];
  return `${kind} from ${plainText(source, 30)}${named.length === 0 ? '' : `: ${named.join(', ')}`}`;
}
