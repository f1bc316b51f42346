/** Stores events: one workflow for each delivery. Temporal checks atomically whether a delivery is new. */
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { EVENT_TYPE, eventTaskQueue } from '../../contract/names.ts';
import { type EventInput, type EventMemo, eventSubjects } from './shapes.ts';
import { eventId } from '../../contract/ids.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { plainText } from '../../contract/safe-text.ts';
import { eventStaticDetails } from '../../request/other-details.ts';
import { findService } from '../../client/find-service.ts';
import { toBelayError } from '../../client/to-belay-error.ts';
import { openSession, type ConnectOptions, type Session } from '../../client/session.ts';
import { traceStart } from '../../client/start.ts';
import type { CredentialsState } from '../../client/transport/open-connection.ts';
import { TIMING } from '../../contract/timing.ts';
import { pollerIdentities } from '../../client/workers.ts';

export interface EventStore {
  /** @param startDelayMs the event is handled after at least this time. @returns whether the delivery is new */
  accept(event: EventInput, startDelayMs?: number): Promise<boolean>;
  /** Null if the delivery was never accepted. */
  acceptedAtMs(source: string, deliveryId: string): Promise<number | null>;
  /** True if Temporal answers and knows the namespace. */
  isReady(): Promise<boolean>;
  credentials(): CredentialsState;
  close(): Promise<void>;
}

/**
 * Connects on the first call, so that the receiver can start while Temporal is down.
 *
 * @param ofService the identity of the service that sends the events. Default: found as a starter finds it
 * @throws BelayError `Usage`
 */
export async function openEventStore(options: ConnectOptions = {}, ofService?: string): Promise<EventStore> {
  let credentials: CredentialsState = { areGood: true, certificateEndMs: null };
  const onCredentials = (state: CredentialsState) => void (credentials = state);
  const { session, close } = await openSession(options, { lazy: true, onCredentials, program: 'belay-webhooks' });
  if (ofService === undefined) await refuseWrongService(session, close);
  const findOf = createEventService(session);
  return {
    accept: async (event, startDelayMs = 0) => {
      const service = ofService ?? (await findOf()) ?? undefined;
      return acceptEvent(session, { ...definedFields({ service }), ...event }, startDelayMs);
    },
    acceptedAtMs: (source, deliveryId) => findAcceptedAtMs(session, source, deliveryId),
    isReady: () => isReady(session),
    credentials: () => credentials,
    close,
  };
}

/** Reports a mistake in the configuration at the start, not with the first event. */
async function refuseWrongService(session: Session, close: () => Promise<void>): Promise<void> {
  await findService(session, []).catch(async (error: unknown) => {
    await close();
    throw error;
  });
}

async function isReady({ client, namespace }: Session): Promise<boolean> {
  return client
    .withDeadline(Date.now() + TIMING.client.storeReadyMs, () =>
      client.workflowService.describeNamespace({ namespace }),
    )
    .then(() => true)
    .catch(() => false);
}

async function acceptEvent(session: Session, input: EventInput, startDelayMs: number): Promise<boolean> {
  const { client, taskQueue } = session;
  const startMs = Date.now();
  const { service, source, deliveryId, verified, receivedAt, event } = input;
  const memo: EventMemo = { ...definedFields({ service }), source, verified, receivedAt, event };
  try {
    const handle = await client.withDeadline(Date.now() + TIMING.client.storeEventMs, () =>
      client.workflow.start(EVENT_TYPE, {
        workflowId: eventId(source, deliveryId),
        taskQueue: eventTaskQueue(taskQueue),
        args: [input],
        memo: { ...memo },
        staticSummary: summaryOf(input),
        staticDetails: eventStaticDetails(input),
        workflowTaskTimeout: TIMING.worker.workflowTaskMs,
        workflowExecutionTimeout: TIMING.event.giveUpAfterMs,
        ...(startDelayMs > 0 && { startDelay: startDelayMs }),
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      }),
    );
    traceStart(session, EVENT_TYPE, { startMs, workflowId: handle.workflowId, runId: handle.firstExecutionRunId });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw toBelayError(error, 'store an event');
  }
}

async function findAcceptedAtMs({ client }: Session, source: string, deliveryId: string): Promise<number | null> {
  try {
    const described = await client.withDeadline(Date.now() + TIMING.client.storeEventMs, () =>
      client.workflow.getHandle(eventId(source, deliveryId)).describe(),
    );
    return described.startTime.getTime();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw toBelayError(error, 'look up an event');
  }
}

function summaryOf({ event, source }: EventInput): string {
  const named = eventSubjects(event, (id) => plainText(id, 30));
  return `${event.kind} from ${plainText(source, 30)}${named.length === 0 ? '' : `: ${named.join(', ')}`}`;
}

/**
 * A flood of events asks often, so an answer is kept for a while.
 *
 * @returns a function that returns null if the service is unknown
 */
function createEventService(
  session: Session,
  clock: () => number = () => performance.now(),
): () => Promise<string | null> {
  let last = { atMs: -Infinity, answer: Promise.resolve<string | null>(null) };
  return () => {
    const nowMs = clock();
    if (nowMs - last.atMs >= TIMING.event.serviceKnownForMs) last = { atMs: nowMs, answer: eventService(session) };
    return last.answer;
  };
}

/** Null means that workers handle the event as one of their own service. */
async function eventService(session: Session): Promise<string | null> {
  const { client } = session;
  // Ask the workers only if nothing is configured.
  const configured = await findService(session, []).catch(() => null);
  if (configured !== null) return configured.service;
  const deadlineMs = Date.now() + TIMING.client.storeEventMs;
  return client
    .withDeadline(deadlineMs, () => session.workers())
    .then((seen) => findService(session, pollerIdentities(seen)))
    .then((found) => found?.service ?? null)
    .catch(() => null);
}
