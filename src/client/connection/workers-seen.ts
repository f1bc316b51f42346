/** Lists the workers that polled a task queue recently, by Temporal's clock: that of this machine may differ. */
import type { ConnectionLike } from '@temporalio/client';
import { isSameVersion } from '../../contract/ids/worker-version.ts';
import { latelyPolling, queueState, type QueueState } from './pollers.ts';
import { serverTimeMs } from './server-time.ts';

export const NO_WORKER_REMEDY = 'start one with `belay worker`, or set BELAY_TASK_QUEUE to the queue it polls';

/** @returns their identities, whatever their version */
export async function workersSeen(connection: ConnectionLike, namespace: string, taskQueue: string): Promise<string[]> {
  return (await seenOn(connection, namespace, taskQueue)).pollers.map(({ identity }) => identity);
}

/** Those that polled recently, and which of their versions get new runs. */
export async function seenOn(connection: ConnectionLike, namespace: string, taskQueue: string): Promise<QueueState> {
  // Credentials may not allow a poll. Then the worker that polled last counts as one that still does.
  const [state, nowMs] = await Promise.all([
    queueState(connection.workflowService, { namespace, taskQueue }),
    serverTimeMs(connection, namespace).catch(() => -Infinity),
  ]);
  return { ...state, pollers: latelyPolling(state.pollers, nowMs) };
}

/** The workers that take runs which begin now: the others are of a build that is not current. */
export const takeNewRuns = ({ pollers, current }: QueueState) =>
  pollers.filter(({ version }) => current.some((it) => isSameVersion(it, version)));
