/** Opens the connection of a client. While it is open, changed credentials are taken up. */
import { Connection, type ConnectionLike } from '@temporalio/client';
import { accessTo, type Access } from '../../config/credentials.ts';
import type { TemporalEndpoint } from '../../config/find-temporal.ts';
import { TIMING } from '../../contract/timing.ts';
import { BelayError } from '../../contract/errors.ts';
import { grpcCause, isDenied } from './grpc-errors.ts';
import { createRetries } from './grpc-retries.ts';
import { CHECK_CREDENTIALS, proxiesNotUsed, START_TEMPORAL } from './remedies.ts';
import { createLiveConnection, type CredentialsState, type Opened } from './live-connection.ts';

/** About a second. Belay itself waits out and reports longer outages. */
const GRPC_ATTEMPTS = 4;

interface OpenOptions {
  /** Connect on the first call. */
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
      // Otherwise it goes through the proxy of the environment, on loopback as well, and the workers' connection does not.
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
    `no Temporal server answers at ${address}: ${remedy}${proxiesNotUsed()}`,
    null,
    cause,
  );
}
