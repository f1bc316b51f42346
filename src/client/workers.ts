/** Lists the workers that polled a task queue recently, by Temporal's clock: that of this machine may differ. */
import type { ConnectionLike } from '@temporalio/client';
import { isSameVersion } from '../contract/worker-version.ts';
import { TIMING } from '../contract/timing.ts';
import { latelyPolling, queueState, type QueueState } from './pollers.ts';
import { serverTimeMs } from './server-time.ts';

export const NO_WORKER_REMEDY = 'start one with `belay worker`, or set BELAY_TASK_QUEUE to the queue it polls';

/** @returns their identities, whatever their version */
export async function workersSeen(connection: ConnectionLike, namespace: string, taskQueue: string): Promise<string[]> {
  return identitiesOf(await seenOn(connection, namespace, taskQueue));
}

export const identitiesOf = ({ pollers }: QueueState): string[] => pollers.map(({ identity }) => identity);

/** Those that polled recently, and which of their versions get new runs. */
export async function seenOn(connection: ConnectionLike, namespace: string, taskQueue: string): Promise<QueueState> {
  const { workflowService } = connection;
  const asked = queueState(workflowService, { namespace, taskQueue });
  // Credentials may not allow a poll. Then the worker that polled last counts as one that still does.
  const [state, nowMs] = await Promise.all([asked, serverTimeMs(connection, namespace, asked).catch(() => -Infinity)]);
  return { ...state, pollers: latelyPolling(state.pollers, nowMs) };
}

/** The workers of a queue. Temporal limits how often they are asked for, so questions share their answers. */
export interface SeenWorkers {
  /** @param isEnough whether an answer that is some seconds old will do */
  (isEnough?: (seen: QueueState) => boolean): Promise<QueueState>;
}

export function shareSeen(ask: () => Promise<QueueState>, clockMs = () => performance.now()): SeenWorkers {
  let asking: Promise<QueueState> | null = null;
  let known: { atMs: number; seen: QueueState } | null = null;
  async function askNow(): Promise<QueueState> {
    const atMs = clockMs();
    const seen = await ask();
    known = { atMs, seen };
    return seen;
  }
  return async (isEnough = () => true) => {
    const isRecent = known !== null && clockMs() - known.atMs < TIMING.client.workersKnownForMs;
    if (known !== null && isRecent && isEnough(known.seen)) return known.seen;
    return (asking ??= askNow().finally(() => (asking = null)));
  };
}

/** The workers that take runs which begin now: the others are of a build that is not current. */
export const takeNewRuns = ({ pollers, current }: QueueState) =>
  pollers.filter(({ version }) => current.some((it) => isSameVersion(it, version)));
