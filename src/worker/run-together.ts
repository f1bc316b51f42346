/** Runs several workers of this process as one. */
import type { Worker } from '@temporalio/worker';

/** @returns once all have stopped. When one ends, the others stop too. @throws the error of the first that failed */
export async function runTogether(workers: readonly Worker[]): Promise<void> {
  const ended = await Promise.allSettled(workers.map((worker) => worker.run().finally(() => shutDown(workers))));
  const failed = ended.find((it) => it.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

export function shutDown(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
