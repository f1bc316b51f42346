/** Opens the connection of a client. While it is open, it picks up changed credentials. */
import { isDeepStrictEqual } from 'node:util';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Connection, type ConnectionLike } from '@temporalio/client';
import { accessTo, type Access, type Credentials } from '../../config/credentials.ts';
import type { TemporalEndpoint } from '../../config/find-temporal.ts';
import { TIMING } from '../../contract/timing.ts';
import { BelayError } from '../../contract/errors.ts';
import {
  grpcCause,
  isDenied,
  CHECK_CREDENTIALS,
  proxiesNotUsed,
  reachedAddress,
  START_TEMPORAL,
} from './grpc-errors.ts';
import { createRetries, waitingAtLimits } from './grpc-retries.ts';
import { messageOf } from '../../contract/safe-text.ts';
import { succeeds } from '../../contract/plain-object.ts';

/** These take about a second. Belay itself waits out and reports longer outages. */
const GRPC_ATTEMPTS = 4;

interface OpenOptions {
  lazy: boolean;
  onCredentials?: ((state: CredentialsState) => void) | undefined;
}

/** @throws ConfigError, and BelayError `TemporalUnreachable` or `Usage` */
export async function openConnection(
  endpoint: Pick<TemporalEndpoint, 'connectionOptions' | 'credentials'>,
  { lazy, onCredentials: onLook = () => undefined }: OpenOptions,
): Promise<ConnectionLike> {
  const access = accessTo(endpoint);
  const first = await open(access, lazy).catch((error: unknown) => {
    throw refusal(error, access);
  });
  const live = createLiveConnection<Connection>(first, access, {
    credentials: endpoint.credentials,
    connect: (next) => open(next, false),
    onLook,
    report(problem) {
      if (problem !== null) process.emitWarning(`the credentials for Temporal stay as they were: ${problem}`);
    },
  });
  return live.connection;
}

async function open({ connectionOptions }: Access, lazy: boolean): Promise<Opened<Connection>> {
  const retries = createRetries(GRPC_ATTEMPTS);
  const all = {
    ...connectionOptions,
    connectTimeout: TIMING.client.connectMs,
    interceptors: [retries.interceptor],
    channelArgs: {
      // The default is two minutes after a long outage.
      'grpc.max_reconnect_backoff_ms': TIMING.client.maxReconnectPauseMs,
      // Otherwise gRPC would use the proxy of the environment, even on loopback. The workers' connection does not.
      'grpc.enable_http_proxy': 0,
    },
  };
  const connection = Connection.lazy(all);
  const close = () => retries.end().then(() => connection.close());
  if (lazy) return { connection, close };
  try {
    await connection.ensureConnected();
    return { connection, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function refusal(error: unknown, { connectionOptions: { address, tls, apiKey } }: Access): BelayError {
  const cause = { cause: error };
  if (isDenied(error)) {
    const { message } = grpcCause(error) as Error;
    return new BelayError(
      'Usage',
      `Temporal at ${address} denies access: ${message}: ${CHECK_CREDENTIALS}`,
      null,
      cause,
    );
  }
  const isSecured = Boolean(tls) || apiKey !== undefined;
  const remedy = isSecured ? 'run `belay doctor`, which reports why' : START_TEMPORAL;
  return new BelayError(
    'TemporalUnreachable',
    `no Temporal server answers at ${reachedAddress(address)}: ${remedy}${proxiesNotUsed()}`,
    null,
    cause,
  );
}

/*
 * A connection to Temporal that is replaced when its credentials change. Calls that have begun end on the old
 * connection, later ones use the new one. Workers and clients use different connection classes of the SDK.
 */

type KeyedConnection = ConnectionLike & { setApiKey(key: string): void | Promise<void> };

export interface Opened<C extends KeyedConnection> {
  connection: C;
  close(): Promise<void>;
}

export interface CredentialsState {
  areGood: boolean;
  certificateEndMs: number | null;
}

export interface LiveOptions<C extends KeyedConnection> {
  /** Null if the credentials never change. */
  credentials: Credentials | null;
  connect(access: Access): Promise<Opened<C>>;
  /** Called with each later connection, before it is used. */
  adopt?(connection: C): void;
  /** Called after each look at the files. */
  onLook?(state: CredentialsState): void;
  /** Called once for each new problem, and with null when new credentials are in use. */
  report(problem: string | null): void;
}

export interface LiveConnection<C extends KeyedConnection> {
  connection: ConnectionLike;
  inUse(): C;
}

/** @param access the credentials and options that the first connection was opened with */
export function createLiveConnection<C extends KeyedConnection>(
  first: Opened<C>,
  access: Access,
  options: LiveOptions<C>,
): LiveConnection<C> {
  const open = new Set([first]);
  let [current, used] = [first, access];
  let problem: string | null = null;
  let isClosed = false;

  function conclude(found: string | null): void {
    if (found !== null && found !== problem) options.report(found);
    problem = found;
    options.onLook?.({ areGood: found === null, certificateEndMs: used.certificateEndMs });
  }

  async function look(credentials: Credentials): Promise<void> {
    const next = credentials.read();
    if (!isDeepStrictEqual(next.connectionOptions, used.connectionOptions)) {
      const opened = await options.connect(next).catch(async (error: unknown) => {
        if (await isAnswering(current.connection)) throw error;
        return null;
      });
      // While Temporal is down, nobody can tell whether the new credentials work.
      if (opened === null) return;
      if (isClosed) return opened.close();
      replace(opened, next);
    }
    conclude(null);
  }

  function replace(opened: Opened<C>, next: Access): void {
    open.add(opened);
    options.adopt?.(opened.connection);
    const { apiKey } = next.connectionOptions;
    // The old key may expire before the calls that have begun end.
    if (apiKey !== undefined) for (const { connection } of open) void connection.setApiKey(apiKey);
    const previous = current;
    [current, used] = [opened, next];
    options.report(null);
    const end = () => void (open.delete(previous) && previous.close().catch(() => undefined));
    setTimeout(end, TIMING.credentials.lingerMs).unref();
  }

  const { credentials } = options;
  const stopLooking = credentials === null ? () => undefined : repeat(() => look(credentials).catch(failed));
  const failed = (error: unknown) => conclude(messageOf(error));
  options.onLook?.({ areGood: true, certificateEndMs: access.certificateEndMs });

  async function close(): Promise<void> {
    isClosed = true;
    stopLooking();
    await Promise.all([...open].map((it) => it.close()));
  }

  const inUse = () => current.connection;
  return { connection: scopedConnection(inUse, { close }), inUse };
}

/** Skips a turn while the previous one is still running. @returns a function that stops it */
function repeat(act: () => Promise<void>): () => void {
  let acting: Promise<void> | null = null;
  const timer = setInterval(
    () => void (acting ??= act().finally(() => (acting = null))),
    TIMING.credentials.lookAgainMs,
  );
  timer.unref();
  return () => clearInterval(timer);
}

/* Passes calls on to the connection in use. A scope keeps the connection that it began with, which has its deadline. */

type Close = Pick<ConnectionLike, 'close'>;

export function scopedConnection<C extends ConnectionLike>(inUse: () => C, { close }: Close): ConnectionLike {
  const scope = new AsyncLocalStorage<C>();
  const held = () => scope.getStore() ?? inUse();
  const within = <T>(act: (connection: C) => Promise<T>) => {
    const connection = held();
    return scope.run(connection, () => act(connection));
  };
  return {
    plugins: [],
    get workflowService() {
      return held().workflowService;
    },
    get operatorService() {
      return held().operatorService;
    },
    ensureConnected: () => held().ensureConnected(),
    withDeadline: (deadline, act) => within((it) => it.withDeadline(deadline, () => waitingAtLimits(act))),
    withMetadata: (metadata, act) => within((it) => it.withMetadata(metadata, act)),
    withAbortSignal: (signal, act) => within((it) => it.withAbortSignal(signal, act)),
    async close() {
      await close();
      // Otherwise, Node 20 and 22 carry the scope along with every later promise of the program.
      scope.disable();
    },
  };
}

/** True if Temporal answers at all, and accepts the credentials of the connection. */
export const isAnswering = (connection: ConnectionLike): Promise<boolean> =>
  succeeds(
    connection.withDeadline(Date.now() + TIMING.client.aliveMs, () => connection.workflowService.getSystemInfo({})),
  );
