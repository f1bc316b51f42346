/** Runs the workers of a process until they are stopped, or until one fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import { serverTimeMs } from '../client/server-time.ts';
import { clockDifference } from '../contract/duration.ts';
import { TIMING } from '../contract/timing.ts';
import type { Logger } from '../process/log.ts';
import type { Monitoring } from './monitoring.ts';
import { createReadiness, createReadinessLog } from './monitoring-server.ts';
import { refuseOtherService, type PolledQueue, lastPollMs, waitUntilPolling } from './queue.ts';
import type { WorkerPool } from './pool.ts';
import { BelayError } from '../contract/errors.ts';

export interface RunningWorker {
  /** How far this machine's clock is ahead of Temporal's. Null if Temporal did not answer in time. */
  readonly clockAheadMs: number | null;
  /** Resolves when the worker has stopped, and rejects when it fails. */
  readonly ended: Promise<void>;
  /** Stops the worker after its requests in progress have finished. */
  stop(): Promise<void>;
}

interface Supervised {
  connection: ConnectionLike;
  pool: WorkerPool;
  queue: PolledQueue;
  /** Aborted when the workers have ended. */
  closing: AbortController;
  log: Logger;
  monitoring: Monitoring;
}

/** @returns once Temporal lists the workers */
export async function supervise(
  workers: readonly Worker[],
  { connection, pool, queue, closing, log, monitoring }: Supervised,
): Promise<RunningWorker> {
  const shutDownAll = () => {
    pool.leave();
    shutDown(workers);
  };
  const ended = runTogether(workers, shutDownAll).finally(() => {
    closing.abort();
    return connection.close();
  });
  const polling = waitUntilPolling(connection, queue);
  monitoring.polling = {
    workers,
    polledMs: () => lastPollMs(connection, queue),
    nowMs: () => serverTimeMs(connection, queue.namespace),
  };
  const clockAheadMs = (await Promise.race([polling, ended])) ?? null;
  // Two workers that start at the same time see each other only now.
  await refuseOtherService(connection, queue).catch(async (error: unknown) => {
    shutDownAll();
    await ended;
    throw error;
  });
  if (clockAheadMs !== null) {
    monitoring.metrics.clockIs(clockAheadMs);
    reportClock(clockAheadMs, log);
  }
  const stopping = new AbortController();
  const over = AbortSignal.any([stopping.signal, closing.signal]);
  void logReadiness(monitoring, log, over);
  return {
    ended,
    clockAheadMs,
    async stop() {
      stopping.abort();
      shutDownAll();
      await ended;
    },
  };
}

async function logReadiness(monitoring: Monitoring, log: Logger, over: AbortSignal): Promise<void> {
  const look = createReadinessLog(
    createReadiness(() => monitoring.polling),
    log,
  );
  for (;;) {
    await sleep(TIMING.worker.readinessLookMs, undefined, { signal: over, ref: false }).catch(() => undefined);
    if (over.aborted) return;
    await look();
  }
}

/** The difference decides nothing, but people compare the times in logs. */
function reportClock(aheadMs: number, log: Logger): void {
  if (Math.abs(aheadMs) <= TIMING.doctor.clockToleranceMs) return;
  log.warn({ clockAheadMs: aheadMs }, `${clockDifference("Temporal's", aheadMs)}: synchronize the clocks with NTP`);
}

/* Runs several workers of this process as one. */

/** @returns once all have stopped. When one ends, the others stop too. @throws the error of the first that failed */
async function runTogether(workers: readonly Worker[], shutDownAll: () => void): Promise<void> {
  const ended = await Promise.allSettled(workers.map((worker) => runToEnd(worker).finally(shutDownAll)));
  const failed = ended.find((it) => it.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/**
 * If Temporal refuses its polls for a minute, a worker of the SDK fails. Its `run` then ends with an error that hides
 * the reason, or never ends.
 */
async function runToEnd(worker: Worker): Promise<void> {
  const watching = new AbortController();
  try {
    await Promise.race([worker.run(), untilFailed(worker, watching.signal)]);
  } catch (error) {
    if (worker.getState() !== 'FAILED') throw error;
    const message = 'the worker failed: see "Worker failed" in its log, then start it again';
    throw new BelayError('TemporalUnreachable', message, null, { cause: error });
  } finally {
    watching.abort();
  }
}

async function untilFailed(worker: Worker, signal: AbortSignal): Promise<never> {
  while (worker.getState() !== 'FAILED') await sleep(TIMING.worker.failedLookMs, undefined, { signal, ref: false });
  throw new Error('the worker does not end');
}

export function shutDown(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
