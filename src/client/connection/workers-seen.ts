/** Lists the workers that polled a task queue recently, by Temporal's clock: that of this machine may differ. */
import type { Client, ConnectionLike } from '@temporalio/client';
import { latelyPolling, pollersOf } from './pollers.ts';
import { serverTimeMs } from './server-time.ts';

export const NO_WORKER_REMEDY = 'start one with `belay worker`, or set BELAY_TASK_QUEUE to the queue it polls';

export async function workerSeen({ connection }: Client, namespace: string, taskQueue: string): Promise<boolean> {
  return (await workersSeen(connection, namespace, taskQueue)).length > 0;
}

/** @returns their identities */
export async function workersSeen(connection: ConnectionLike, namespace: string, taskQueue: string): Promise<string[]> {
  // Credentials may not allow a poll. Then the worker that polled last counts as one that still does.
  const [pollers, nowMs] = await Promise.all([
    pollersOf(connection.workflowService, { namespace, taskQueue }),
    serverTimeMs(connection, namespace).catch(() => -Infinity),
  ]);
  return latelyPolling(pollers, nowMs);
}
