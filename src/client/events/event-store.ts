/** Where events are kept: one workflow for each delivery. Temporal decides in one step whether there is such a one. */
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../../contract/run.ts';
import { EVENT_TYPE, type EventInput, type EventMemo } from '../../contract/event.ts';
import { namesIn } from '../../contract/wording/event-subjects.ts';
import { eventId } from '../../contract/ids/workflow-ids.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { asBelayError } from '../connection/to-belay-error.ts';
import { openSession, type ConnectOptions } from '../connection/session.ts';
import type { Session } from '../session.ts';

const READY_TIMEOUT_MS = 2_000;
/** A sender waits no longer than 15 s, and sends again. */
const TAKE_TIMEOUT_MS = 5_000;

export interface EventStore {
  /** @returns whether it is new */
  take(event: EventInput): Promise<boolean>;
  /** When a delivery was taken; null where it never was. */
  takenAtMs(source: string, deliveryId: string): Promise<number | null>;
  /** Whether Temporal answers, and knows the namespace. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

/** Doesn't ask for Temporal yet: it may be away, and come back. */
export async function openEventStore(options: ConnectOptions = {}): Promise<EventStore> {
  const { session, close } = await openSession(options, true);
  return {
    take: (event) => takeEvent(session, event),
    takenAtMs: (source, deliveryId) => takenAtMs(session, source, deliveryId),
    isReady: () => isReady(session),
    close,
  };
}

async function isReady({ client, namespace }: Session): Promise<boolean> {
  return client
    .withDeadline(Date.now() + READY_TIMEOUT_MS, () => client.workflowService.describeNamespace({ namespace }))
    .then(() => true)
    .catch(() => false);
}

async function takeEvent({ client, taskQueue }: Session, input: EventInput): Promise<boolean> {
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

async function takenAtMs({ client }: Session, source: string, deliveryId: string): Promise<number | null> {
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

function summaryOf({ event, source }: EventInput): string {
  const named = namesIn(event, (id) => plainText(id, 30));
  return `${event.kind} from ${plainText(source, 30)}${named.length === 0 ? '' : `: ${named.join(', ')}`}`;
}
