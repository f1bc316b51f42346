/** Runs the workers of a process until they are stopped, or one fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import { serverTimeMs } from '../client/server-time.ts';
import { clockDifference } from '../contract/clock-difference.ts';
import { TIMING } from '../contract/timing.ts';
import type { Logger } from '../process/log.ts';
import type { Monitoring } from './monitoring.ts';
import { createReadiness, createReadinessLog } from './readiness.ts';
import { refuseOtherService, type PolledQueue } from './queue.ts';
import { lastPollMs, waitUntilPolling } from './own-polls.ts';
import type { WorkerPool } from './pool.ts';
import { runTogether, shutDown } from './run-together.ts';

export interface RunningWorker {
  /** How far this machine's clock is ahead of Temporal's. Null if Temporal did not answer in time. */
  readonly clockAheadMs: number | null;
  /** Resolves when the worker has stopped, rejects when it fails. */
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

/** Runs the workers. @returns once Temporal lists them */
export async function supervise(
  workers: readonly Worker[],
  { connection, pool, queue, closing, log, monitoring }: Supervised,
): Promise<RunningWorker> {
  const ended = runTogether(workers).finally(() => {
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
  // Of two workers that start at the same time, each sees the other only now.
  await refuseOtherService(connection, queue).catch(async (error: unknown) => {
    shutDown(workers);
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
      pool.leave();
      shutDown(workers);
      await ended;
    },
  };
}

/** Until the worker stops. */
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

/** It decides nothing, but people compare the times in logs. */
function reportClock(aheadMs: number, log: Logger): void {
  if (Math.abs(aheadMs) <= TIMING.doctor.clockToleranceMs) return;
  log.warn({ clockAheadMs: aheadMs }, `${clockDifference("Temporal's", aheadMs)}: synchronize the clocks with NTP`);
}
