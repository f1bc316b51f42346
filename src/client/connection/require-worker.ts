/** Checks for a worker before a start, so that no run waits unnoticed for hours. */
import { BelayError } from '../../contract/results/belay-error.ts';
import type { Session } from './session.ts';
import { NO_WORKER_REMEDY, workersSeen } from './workers-seen.ts';

/** @returns the identities of the queue's workers. @throws BelayError `NoWorker` */
export async function requireWorkers({ client, namespace, taskQueue }: Session): Promise<string[]> {
  const workers = await workersSeen(client.connection, namespace, taskQueue);
  if (workers.length > 0) return workers;
  throw new BelayError('NoWorker', `no worker polls the task queue "${taskQueue}": ${NO_WORKER_REMEDY}`);
}
