/** Lists received events. Each of them is a workflow. */
import {
  WorkflowFailedError,
  WorkflowNotFoundError,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { EVENT_TYPE } from '../../contract/names.ts';
import type { EventInput, EventMemo, EventResult } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { toBelayError } from '../../client/to-belay-error.ts';
import { inputOf } from '../../client/decode-payloads.ts';
import { refuseUnknown, type Session } from '../../client/session.ts';
import { newest, quoted } from '../../client/list-filter.ts';
import { TIMING } from '../../contract/timing.ts';

const DEFAULT_LIMIT = 20;

export interface EventFilter {
  /** Only events received at or after this time, ISO 8601. Default: all. */
  since?: string;
  /** How many events to return. Default: 20. */
  limit?: number;
}

const EVENT_FILTER: Record<keyof EventFilter, true> = { since: true, limit: true };

export interface EventDetails extends EventInput {
  /** What the event caused. Null until it was handled. */
  result: EventResult | null;
}

export interface ReceivedEvent extends EventMemo {
  workflowId: string;
}

export async function listEvents(session: Session, filter: EventFilter): Promise<ReceivedEvent[]> {
  refuseUnknown('listEvents', filter, EVENT_FILTER);
  const { since, limit } = filter;
  const query = [
    `WorkflowType = ${quoted(EVENT_TYPE)}`,
    ...(since === undefined ? [] : [`StartTime >= ${quoted(since)}`]),
  ].join(' AND ');
  const most = limit ?? DEFAULT_LIMIT;
  try {
    const deadlineMs = Date.now() + TIMING.client.listMs;
    return (await session.client.withDeadline(deadlineMs, () => newest(session, query, most))).map(receivedEventOf);
  } catch (error) {
    throw toBelayError(error, 'list events');
  }
}

/** Returns the redacted body, and the effects once the event was handled. @throws BelayError `NotFound` */
export async function getEvent({ client }: Session, workflowId: string): Promise<EventDetails> {
  const deadlineMs = Date.now() + TIMING.client.listMs;
  const handle = client.workflow.getHandle(workflowId);
  try {
    return await client.withDeadline(deadlineMs, async () => {
      const { type, status } = await handle.describe();
      const input = type === EVENT_TYPE ? await inputOf<EventInput>(client, workflowId) : null;
      if (input !== null) return { ...input, result: status.name === 'RUNNING' ? null : await resultOf(handle) };
      throw new BelayError('NotFound', `${workflowId} is not an event; \`belay events\` lists them`);
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw new BelayError('NotFound', `there is no event ${workflowId}; \`belay events\` lists them`);
    }
    throw toBelayError(error, `read ${workflowId}`);
  }
}

async function resultOf(handle: WorkflowHandle): Promise<EventResult | null> {
  return handle.result().catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
    // An event whose notifications were not delivered fails with its result in the details.
    const { cause } = error;
    return (cause instanceof ApplicationFailure ? cause.details?.[0] : null) ?? null;
  }) as Promise<EventResult | null>;
}

function receivedEventOf({ workflowId, memo }: WorkflowExecutionInfo): ReceivedEvent {
  return { workflowId, ...(memo as unknown as EventMemo) };
}
