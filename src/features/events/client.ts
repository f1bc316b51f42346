/** Lists received events. Each of them is a workflow. */
import { EVENT_TYPE } from '../../contract/names.ts';
import type { EventInput, EventMemo, EventResult } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { resultLeft, unlessMissing } from '../../client/read-workflow.ts';
import { inputOf } from '../../client/decode-payloads.ts';
import { checkWorkflowId, refuseUnknown } from '../../client/check-options.ts';
import type { Session } from '../../client/session.ts';
import { newest, ofType, type Listed } from '../../client/list-filter.ts';
import { within } from '../../client/within.ts';
import { TIMING } from '../../contract/timing.ts';

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
  /**
   * Why the list could not read the event. Then only `workflowId` and `receivedAt` are known. Absent if it could read
   * it.
   */
  unreadable?: string;
}

export async function listEvents(session: Session, filter: EventFilter): Promise<ReceivedEvent[]> {
  refuseUnknown('listEvents', filter, EVENT_FILTER);
  const read = () => newest(session, ofType(EVENT_TYPE), filter, (info) => receivedEventIn(info) !== null);
  const found = await within(session, TIMING.client.listMs, 'list events', read);
  return found.flatMap((info) => receivedEventIn(info) ?? []);
}

/** Returns the redacted body, and the effects once the event was handled. @throws BelayError `NotFound` */
export async function getEvent(session: Session, workflowId: string): Promise<EventDetails> {
  checkWorkflowId(workflowId, 'belay events');
  const { client } = session;
  const handle = client.workflow.getHandle(workflowId);
  const read = async (): Promise<EventDetails> => {
    const { type, status } = await handle.describe();
    const input = type === EVENT_TYPE ? await inputOf<unknown>(client, workflowId) : null;
    if (!isInput(input)) throw new BelayError('NotFound', `${workflowId} is not an event; \`belay events\` lists them`);
    // An event whose notifications were not delivered fails with its result.
    return {
      ...input,
      result: status.name === 'RUNNING' ? null : await resultLeft<EventResult>(handle),
    };
  };
  const found = await within(session, TIMING.client.listMs, `read ${workflowId}`, () => unlessMissing(read()));
  if (found !== null) return found;
  throw new BelayError('NotFound', `there is no event ${workflowId}; \`belay events\` lists them`);
}

/** @returns null for a workflow that a person started under this type: it has no memo, or one of another form */
function receivedEventIn({ workflowId, startTime, memo, unreadable }: Listed): ReceivedEvent | null {
  const known: unknown = memo;
  if (isMemo(known)) return { workflowId, ...known };
  if (unreadable === null) return null;
  const event = { kind: 'unknown', rawKind: null, serverId: null, siteId: null, backupId: null, at: null } as const;
  return { workflowId, source: '', verified: false, receivedAt: startTime.toISOString(), event, unreadable };
}

function isMemo(memo: unknown): memo is EventMemo {
  if (!isRecord(memo) || !isRecord(memo['event'])) return false;
  const { kind, rawKind, serverId, siteId, backupId, at } = memo['event'];
  const isText = (it: unknown) => typeof it === 'string';
  const maybe = [rawKind, serverId, siteId, backupId, at];
  return [memo['source'], memo['receivedAt'], kind].every(isText) && maybe.every((it) => it === null || isText(it));
}

const isInput = (input: unknown): input is EventInput =>
  isMemo(input) && Array.isArray((input as Partial<EventInput>).reactions);
