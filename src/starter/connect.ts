/** The door to Temporal for whoever starts runs and waits for them: the command line, and any program. */
import { Client, Connection } from '@temporalio/client';
import { ConfigError, taskQueue as configuredTaskQueue } from '../config.ts';
import type { RunInput, RunResult } from '../contract.ts';
import { findTemporal, type TemporalPlace } from '../temporal.ts';
import type { EventInput } from '../event-contract.ts';
import { BelayError } from './errors.ts';
import { getEvent, listEvents, takenAtMs, takeEvent, type EventFilter, type TakenEvent } from './events.ts';
import { listRuns, type RunFilter } from './list.ts';
import { createRun, type Run } from './run.ts';
import { createRetries } from './retries.ts';
import type { Session } from './session.ts';
import { startRun, type StartOptions } from './start.ts';

const CONNECT_TIMEOUT_MS = 4_000;
const READY_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_PAUSE_MS = 2_000;
/** About a second: an outage is for us to wait out, and to tell of. */
const GRPC_ATTEMPTS = 4;

export interface ConnectOptions {
  /** A connection to share; it isn't closed by `close`. Default: one of its own, configured as Temporal's are. */
  connection?: Connection;
  /** `host:port` of a Temporal without TLS; nothing that is configured counts then. */
  address?: string;
  namespace?: string;
  taskQueue?: string;
  /** Where people reach the Temporal UI, for links. */
  uiUrl?: string;
  /** Don't ask for Temporal yet: every call does. */
  lazy?: boolean;
}

/** @throws BelayError, from every call */
export interface Belay {
  /** Starts a run, or attaches to the one with the same key. What it does follows from the input. */
  start(input: RunInput, options?: StartOptions): Promise<Run>;
  /** A run that was started before. Nothing is asked until a call on it. */
  get(workflowId: string, runId?: string): Run;
  /** Runs of the past and present, newest first. */
  list(filter?: RunFilter): Promise<RunResult[]>;
  /** Events that came, the newest first. */
  listEvents(filter?: EventFilter): Promise<TakenEvent[]>;
  /** One of them, with its redacted body. */
  getEvent(workflowId: string): Promise<EventInput>;
  /** Hands an event to Temporal, which keeps it. @returns false for one that was taken before */
  takeEvent(event: EventInput): Promise<boolean>;
  /** When a delivery was taken; null where it never was. */
  takenAtMs(source: string, deliveryId: string): Promise<number | null>;
  /** Whether Temporal answers, and knows the namespace. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

/** @throws BelayError of type `TemporalUnreachable` or `Usage` */
export async function connect(options: ConnectOptions = {}): Promise<Belay> {
  const place = options.address === undefined ? configured() : plainPlace(options.address);
  const { connection, close } =
    options.connection === undefined ? await open(place, options.lazy === true) : shared(options.connection);
  const namespace = options.namespace ?? place.namespace;
  const session: Session = {
    client: new Client({ connection, namespace }),
    namespace,
    taskQueue: options.taskQueue ?? configuredTaskQueue(),
    uiUrl: options.uiUrl ?? place.uiUrl,
  };
  return {
    start: (input, startOptions = {}) => startRun(session, input, startOptions),
    get: (workflowId, runId) => createRun(session, { workflowId, runId: runId ?? null, attached: true }),
    list: (filter = {}) => listRuns(session, filter),
    listEvents: (filter = {}) => listEvents(session, filter),
    getEvent: (workflowId) => getEvent(session, workflowId),
    takeEvent: (event) => takeEvent(session, event),
    takenAtMs: (source, deliveryId) => takenAtMs(session, source, deliveryId),
    isReady: () => isReady(session),
    close,
  };
}

/** It is closed by whoever opened it. */
const shared = (connection: Connection): Opened => ({ connection, close: () => Promise.resolve() });

interface Opened {
  connection: Connection;
  close: () => Promise<void>;
}

function configured(): TemporalPlace {
  try {
    return findTemporal();
  } catch (error) {
    if (error instanceof ConfigError) throw new BelayError('Usage', error.message);
    throw error;
  }
}

function plainPlace(address: string): TemporalPlace {
  return { connectionOptions: { address }, namespace: 'default', uiUrl: null };
}

async function isReady({ client, namespace }: Session): Promise<boolean> {
  return client
    .withDeadline(Date.now() + READY_TIMEOUT_MS, () => client.workflowService.describeNamespace({ namespace }))
    .then(() => true)
    .catch(() => false);
}

async function open({ connectionOptions }: TemporalPlace, lazy: boolean): Promise<Opened> {
  const { address } = connectionOptions;
  const retries = createRetries(GRPC_ATTEMPTS);
  try {
    const all = {
      ...connectionOptions,
      connectTimeout: CONNECT_TIMEOUT_MS,
      interceptors: [retries.interceptor],
      // Two minutes else, after a long outage.
      channelArgs: { 'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_PAUSE_MS },
    };
    const connection = lazy ? Connection.lazy(all) : await Connection.connect(all);
    return { connection, close: () => retries.end().then(() => connection.close()) };
  } catch (error) {
    const remedy = 'start `belay dev`, or set TEMPORAL_ADDRESS to where Temporal is';
    throw new BelayError('TemporalUnreachable', `no Temporal server answers at ${address}: ${remedy}`, null, {
      cause: error,
    });
  }
}
