/** Opening a connection to Temporal for whoever starts runs, looks, or hands events over. */
import { Client, Connection } from '@temporalio/client';
import { ConfigError, taskQueue as configuredTaskQueue } from '../../config/environment/environment.ts';
import { findTemporal, type TemporalPlace } from '../../config/temporal/find-temporal.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { createRetries } from './grpc-retries.ts';
import type { Session } from '../session.ts';

const CONNECT_TIMEOUT_MS = 4_000;
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
}

export interface OpenSession {
  session: Session;
  close: () => Promise<void>;
}

/** @param lazy don't ask for Temporal yet: every call does. @throws BelayError of type `TemporalUnreachable` or `Usage` */
export async function openSession(options: ConnectOptions, lazy = false): Promise<OpenSession> {
  const place = options.address === undefined ? configured() : plainPlace(options.address);
  const { connection, close } = options.connection === undefined ? await open(place, lazy) : shared(options.connection);
  const namespace = options.namespace ?? place.namespace;
  const session: Session = {
    client: new Client({ connection, namespace }),
    namespace,
    taskQueue: options.taskQueue ?? configuredTaskQueue(),
    uiUrl: options.uiUrl ?? place.uiUrl,
  };
  return { session, close };
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
