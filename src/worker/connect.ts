/** Connects a worker to Temporal. While it is connected, it picks up changed credentials. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, type Worker } from '@temporalio/worker';
import {
  createLiveConnection,
  type CredentialsState,
  type LiveConnection,
  type Opened,
} from '../client/transport/open-connection.ts';
import { ConfigError } from '../config/environment/variables.ts';
import { accessTo, type Access } from '../config/credentials.ts';
import type { TemporalEndpoint } from '../config/find-temporal.ts';
import type { Logger } from '../process/log.ts';
import { messageOf } from '../contract/safe-text.ts';
import { TIMING } from '../contract/timing.ts';
import { whyUnreachable } from '../client/transport/why-unreachable.ts';

export interface WorkerConnection extends LiveConnection<NativeConnection> {
  /** Moves these workers to each later connection, too. */
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
  // A worker that failed keeps its connection in use.
  return { connection, close: () => connection.close().catch(() => undefined) };
}

/* Tries until a part that a worker needs is there. Meanwhile, the worker stays alive and polls nothing. */

/** @returns what is ready, or why it is not */
type Attempt<T> = () => Promise<{ ready: T } | { problem: string }>;

/** @throws AbortError once `stopped` */
export async function untilReady<T>(attempt: Attempt<T>, log: Logger, stopped?: AbortSignal): Promise<T> {
  for (let pauseMs: number = TIMING.worker.retryMs; ; pauseMs = Math.min(2 * pauseMs, TIMING.worker.maxRetryMs)) {
    const result = await attempt();
    if ('ready' in result) return result.ready;
    log.warn(`not ready: ${result.problem}; trying again in ${pauseMs / 1000} s`);
    await sleep(pauseMs, undefined, { signal: stopped });
  }
}
