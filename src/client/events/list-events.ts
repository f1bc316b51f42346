/** Events that were taken: one workflow for each. */
import { WorkflowNotFoundError, type WorkflowExecutionInfo } from '@temporalio/client';
import { EVENT_TYPE, type EventInput, type EventMemo } from '../../contract/event.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { asBelayError } from '../connection/to-belay-error.ts';
import { inputOf } from '../runs/run-history.ts';
import { newest, quoted } from '../connection/list-filter.ts';
import type { Session } from '../session.ts';

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

/** The newest first. */
export async function listEvents(session: Session, { since, limit }: EventFilter): Promise<TakenEvent[]> {
  const query = [
    `WorkflowType = ${quoted(EVENT_TYPE)}`,
    ...(since === undefined ? [] : [`StartTime >= ${quoted(since)}`]),
  ].join(' AND ');
  const most = limit ?? DEFAULT_LIMIT;
  try {
    const deadlineMs = Date.now() + LIST_TIMEOUT_MS;
    return (await session.client.withDeadline(deadlineMs, () => newest(session, query, most))).map(takenOf);
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
