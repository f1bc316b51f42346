/** Lists received events. Each of them is a workflow. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { EVENT_TYPE } from '../../contract/names.ts';
import type { EventInput, EventMemo, EventResult } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { resultLeft, unlessMissing } from '../../client/read-workflow.ts';
import { inputOf } from '../../client/decode-payloads.ts';
import { refuseUnknown, type Session } from '../../client/session.ts';
import { newest, ofType, quoted } from '../../client/list-filter.ts';
import { within } from '../../client/within.ts';
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
  const { since, limit = DEFAULT_LIMIT } = filter;
  const query = [ofType(EVENT_TYPE), ...(since === undefined ? [] : [`StartTime >= ${quoted(since)}`])].join(' AND ');
  const read = () => newest(session, query, limit);
  return (await within(session, TIMING.client.listMs, 'list events', read)).flatMap(receivedEventIn);
}

/** Returns the redacted body, and the effects once the event was handled. @throws BelayError `NotFound` */
export async function getEvent(session: Session, workflowId: string): Promise<EventDetails> {
  const { client } = session;
  const handle = client.workflow.getHandle(workflowId);
  const read = async (): Promise<EventDetails> => {
    const { type, status } = await handle.describe();
    const input = type === EVENT_TYPE ? await inputOf<Partial<EventInput>>(client, workflowId) : null;
    if (input?.event === undefined)
      throw new BelayError('NotFound', `${workflowId} is not an event; \`belay events\` lists them`);
    // An event whose notifications were not delivered fails with its result.
    return {
      ...(input as EventInput),
      result: status.name === 'RUNNING' ? null : await resultLeft<EventResult>(handle),
    };
  };
  const found = await within(session, TIMING.client.listMs, `read ${workflowId}`, () => unlessMissing(read()));
  if (found !== null) return found;
  throw new BelayError('NotFound', `there is no event ${workflowId}; \`belay events\` lists them`);
}

/** What a person starts in the UI under this type has an empty memo, and is no delivery. */
function receivedEventIn({ workflowId, memo }: WorkflowExecutionInfo): ReceivedEvent[] {
  const known = (memo ?? {}) as Partial<EventMemo>;
  return known.event === undefined ? [] : [{ workflowId, ...(known as EventMemo) }];
}
