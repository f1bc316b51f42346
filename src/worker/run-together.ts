/** Runs several workers of this process as one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from '@temporalio/worker';
import { BelayError } from '../contract/errors.ts';
import { TIMING } from '../contract/timing.ts';

/** @returns once all have stopped. When one ends, the others stop too. @throws the error of the first that failed */
export async function runTogether(workers: readonly Worker[]): Promise<void> {
  const ended = await Promise.allSettled(workers.map((worker) => runToEnd(worker).finally(() => shutDown(workers))));
  const failed = ended.find((it) => it.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/**
 * If Temporal refuses its polls for a minute, a worker of the SDK fails. Then its `run` ends with an error that hides the
 * reason, or never.
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
