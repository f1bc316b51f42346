/** Connects a worker to Temporal. While it is connected, changed credentials are taken up. */
import { NativeConnection, type Worker } from '@temporalio/worker';
import {
  createLiveConnection,
  type CredentialsState,
  type LiveConnection,
  type Opened,
} from '../client/transport/live-connection.ts';
import { ConfigError } from '../config/environment/config-error.ts';
import { accessTo, type Access } from '../config/credentials.ts';
import type { TemporalEndpoint } from '../config/find-temporal.ts';
import type { Logger } from '../process/log.ts';
import { whyUnreachable } from './why-unreachable.ts';
import { messageOf } from '../contract/message-of.ts';

export interface WorkerConnection extends LiveConnection<NativeConnection> {
  /** Lets these workers poll through each later connection, too. */
  carry(workers: readonly Worker[]): void;
}

export type WorkerEndpoint = Pick<TemporalEndpoint, 'connectionOptions'> &
  Partial<Pick<TemporalEndpoint, 'credentials'>>;

interface ConnectOptions {
  log: Logger;
  onCredentials: (state: CredentialsState) => void;
}

/** @returns the connection, or why there is none and what to do */
export async function tryConnect(
  { connectionOptions, credentials = null }: WorkerEndpoint,
  { log, onCredentials: onLook }: ConnectOptions,
): Promise<{ ready: WorkerConnection } | { problem: string }> {
  const carried: Worker[] = [];
  const adopt = (connection: NativeConnection) => {
    for (const worker of carried) worker.connection = connection;
  };
  try {
    const access = accessTo({ connectionOptions, credentials });
    const first = await open(access);
    const report = (problem: string | null) =>
      problem === null
        ? log.info('the credentials for Temporal changed: the new ones are in use')
        : log.error(`the credentials for Temporal stay as they were: ${problem}`);
    const live = createLiveConnection(first, access, { credentials, connect: open, adopt, onLook, report });
    const carry = (workers: readonly Worker[]) => {
      carried.push(...workers);
      adopt(live.inUse());
    };
    return { ready: { ...live, carry } };
  } catch (error) {
    if (error instanceof ConfigError) onLook({ areGood: false, certificateEndMs: null });
    return { problem: messageOf(error) };
  }
}

async function open({ connectionOptions }: Access): Promise<Opened<NativeConnection>> {
  const connection = await NativeConnection.connect(connectionOptions).catch((error: unknown) => {
    const { problem, remedy } = whyUnreachable(error);
    throw new Error(`Temporal at ${connectionOptions.address} ${problem}: ${remedy}`);
  });
  // A worker that failed holds on to its connection.
  return { connection, close: () => connection.close().catch(() => undefined) };
}
