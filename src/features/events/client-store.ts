/** Stores events: one workflow for each delivery. Temporal checks atomically whether a delivery is new. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { EVENT_TYPE, eventTaskQueue } from '../../contract/names.ts';
import { type EventInput, type EventMemo, eventSubjects } from './shapes.ts';
import { eventId } from '../../contract/ids.ts';
import { definedFields, succeeds } from '../../contract/plain-object.ts';
import { codeSpan, plainText } from '../../contract/safe-text.ts';
import { serviceFact } from '../../request/run-details.ts';
import { detailsPage, factList } from '../../contract/markdown.ts';
import { findService, findServiceNow } from '../../client/find-service.ts';
import { unlessMissing } from '../../client/read-workflow.ts';
import { askAtMost, within } from '../../client/within.ts';
import { openSession, type ConnectOptions, type Session } from '../../client/session.ts';
import { traceStart } from '../../client/start.ts';
import type { CredentialsState } from '../../client/transport/open-connection.ts';
import { TIMING } from '../../contract/timing.ts';

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
  // A flood of events asks often.
  const findOf = askAtMost(TIMING.event.serviceKnownForMs, () => eventService(session));
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

const isReady = (session: Session): Promise<boolean> =>
  succeeds(
    within(session, TIMING.client.storeReadyMs, 'read the namespace', () =>
      session.client.workflowService.describeNamespace({ namespace: session.namespace }),
    ),
  );

function acceptEvent(session: Session, input: EventInput, startDelayMs: number): Promise<boolean> {
  const { client, taskQueue } = session;
  const startMs = Date.now();
  const { service, source, deliveryId, verified, receivedAt, event } = input;
  const memo: EventMemo = { ...definedFields({ service }), source, verified, receivedAt, event };
  return within(session, TIMING.client.storeEventMs, 'store an event', async () => {
    try {
      const { workflowId, firstExecutionRunId: runId } = await client.workflow.start(EVENT_TYPE, {
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
      });
      traceStart(session, EVENT_TYPE, { startMs, workflowId, runId });
      return true;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  });
}

const findAcceptedAtMs = (session: Session, source: string, deliveryId: string): Promise<number | null> =>
  within(session, TIMING.client.storeEventMs, 'look up an event', async () => {
    const handle = session.client.workflow.getHandle(eventId(source, deliveryId));
    return (await unlessMissing(handle.describe()))?.startTime.getTime() ?? null;
  });

function summaryOf({ event, source }: EventInput): string {
  const named = eventSubjects(event, (id) => plainText(id, 30));
  return `${event.kind} from ${plainText(source, 30)}${named.length === 0 ? '' : `: ${named.join(', ')}`}`;
}

/** Null means that workers handle the event as one of their own service. */
async function eventService(session: Session): Promise<string | null> {
  // Ask the workers only if nothing is configured.
  const configured = await findService(session, []).catch(() => null);
  if (configured !== null) return configured.service;
  return findServiceNow(session, TIMING.client.storeEventMs).catch(() => null);
}

function eventStaticDetails({ service, source, deliveryId, verified, receivedAt, reactions }: EventInput): string {
  return detailsPage(
    'Handles one webhook delivery. It decides no outcome: it only lets runs read their status now, holds servers of ' +
      'rollouts, lets runs share a backup, and notifies.',
    factList({
      'Sent by': `${codeSpan(source)}, ${verified ? 'verified' : 'not verified'}`,
      Delivery: codeSpan(deliveryId),
      Received: receivedAt,
      Service: serviceFact(service),
      Reactions: reactions.length === 0 ? 'none' : reactions.join(', '),
    }),
  );
}
