/** Opens the connection to Temporal that every part of the client shares. */
import { Client, type Connection } from '@temporalio/client';
import {
  checkUiUrl,
  identityFrom,
  taskQueue as configuredTaskQueue,
  searchAttributeMode,
  signature,
} from '../config/environment/environment.ts';
import { ASKS_AGAIN } from './ask-again.ts';
import { refuseUnknown } from './check-options.ts';
import { readEncryption } from '../encryption/encryption.ts';
import { seenOn, shareSeen, type SeenWorkers } from './workers.ts';
import { checkTemporalAddress, findTemporal, type TemporalEndpoint } from '../config/find-temporal.ts';
import { openTracing, type Tracing } from '../tracing/tracing.ts';
import { type CredentialsState, openConnection } from './transport/open-connection.ts';

export interface Session {
  client: Client;
  namespace: string;
  taskQueue: string;
  encrypts: boolean;
  setsAttributes: boolean;
  workers: SeenWorkers;
  /** Base URL of the Temporal UI. Null if it is not configured. */
  uiUrl: string | null;
  /** The identity of the service that the caller named. Null if the client has to find it. */
  service: string | null;
  /** The name that this session gives as the starter of what it starts. */
  by: string;
  /** Null if no traces are exported. */
  tracing: Tracing | null;
}

/** Temporal limits how many requests a namespace may send at once. */
export const IN_PARALLEL = { concurrency: 10 } as const;

export interface ConnectOptions {
  /**
   * A connection to share, which `close` leaves open. Default: a new connection, configured like other Temporal
   * clients.
   */
  connection?: Connection;
  /** `host:port` of a Temporal server without TLS, instead of the configured one. */
  address?: string;
  /** The namespace at Temporal. Default: the configured one, or `default` with `address`. */
  namespace?: string;
  /** The task queue of the workers. Default: `BELAY_TASK_QUEUE`, else `belay`. */
  taskQueue?: string;
  /** Base URL of the Temporal UI, for links, without user or password. Default: the configured one, or none with `address`. */
  uiUrl?: string;
  /**
   * Base URL of the service that runs are for. Default: `BELAY_SERVICE`, else `service` in belay.yaml, else the service
   * of the workers.
   */
  service?: string;
  /** The name shown in the Temporal UI as the starter. Default: the user and host of this process. */
  by?: string;
}

const CONNECT_OPTIONS: Record<keyof ConnectOptions, true> = {
  connection: true,
  address: true,
  namespace: true,
  taskQueue: true,
  uiUrl: true,
  service: true,
  by: true,
};

export interface OpenSession {
  session: Session;
  close: () => Promise<void>;
}

interface SessionOptions {
  /** Connects on the first call. Default: at once. */
  lazy?: boolean;
  onCredentials?: (state: CredentialsState) => void;
  /** The service name of the spans. */
  program?: string;
}

/** @throws BelayError of type `TemporalUnreachable` or `Usage` */
export async function openSession(
  options: ConnectOptions,
  { lazy = false, onCredentials, program = 'belay' }: SessionOptions = {},
): Promise<OpenSession> {
  refuseUnknown('connect', options, CONNECT_OPTIONS);
  const endpoint = options.address === undefined ? findTemporal() : plainEndpoint(options.address);
  const encryption = readEncryption((message) => process.emitWarning(message));
  const namespace = options.namespace ?? endpoint.namespace;
  const taskQueue = options.taskQueue ?? configuredTaskQueue();
  const uiUrl = options.uiUrl ?? endpoint.uiUrl;
  const settings = {
    namespace,
    taskQueue,
    encrypts: encryption.isOn,
    setsAttributes: searchAttributeMode() !== 'off',
    uiUrl: uiUrl === null ? null : checkUiUrl('uiUrl', uiUrl),
    service: options.service === undefined ? null : identityFrom('the service', options.service),
    by: options.by ?? signature(),
  };
  const tracing = await openTracing({ program, warn: () => undefined });
  // Nothing below may throw once the connection is open, because nobody would close it.
  const own = options.connection === undefined ? await openConnection(endpoint, { lazy, onCredentials }) : null;
  const connection = own ?? options.connection!;
  const session: Session = {
    ...settings,
    client: new Client({ connection, namespace, dataConverter: encryption.dataConverter, interceptors: ASKS_AGAIN }),
    workers: shareSeen(() => seenOn(connection, namespace, taskQueue)),
    tracing,
  };
  const close = async () => {
    await tracing?.close();
    // The caller closes a connection that it brought.
    await own?.close();
  };
  return { session, close };
}

function plainEndpoint(address: string): Omit<TemporalEndpoint, 'origin' | 'isOneOfSeveral'> {
  checkTemporalAddress('address', address);
  return { connectionOptions: { address }, namespace: 'default', uiUrl: null, credentials: null };
}
