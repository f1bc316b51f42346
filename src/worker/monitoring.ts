/** What a worker reports about itself. It measures always, and serves the figures only where an address is set. */
import type { Worker } from '@temporalio/worker';
import { VERSION } from '../process/version.ts';
import { createWorkerMetrics, type WorkerMetrics } from './worker-metrics.ts';

/** A worker that polls, or did. */
export interface Polling {
  workers: readonly Pick<Worker, 'getState'>[];
  /** When Temporal last saw it begin a poll, by Temporal's clock; null if it is not listed. */
  polledMs: () => Promise<number | null>;
  /** By Temporal's clock. */
  nowMs: () => Promise<number>;
}

export interface Monitoring {
  readonly metrics: WorkerMetrics;
  /** Null until the worker exists. */
  polling: Polling | null;
}

/** @param buildId null: the worker is not versioned */
export function createMonitoring(buildId: string | null = null): Monitoring {
  return { metrics: createWorkerMetrics({ version: VERSION, buildId }), polling: null };
}
