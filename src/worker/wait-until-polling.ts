/** Waits until Temporal lists a new worker, so that a run can start as soon as the worker reports ready. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeConnection } from '@temporalio/worker';
import { pollersOf } from '../client/connection/pollers.ts';
import { TIMING } from '../contract/timing.ts';

/**
 * Call it when the worker begins to poll.
 * @returns how far this machine's clock is ahead of Temporal's, measured by that first poll. Null if Temporal does not
 * answer in time: then the worker starts without this check.
 */
export async function waitUntilPolling(
  connection: NativeConnection,
  { namespace, taskQueue, identity }: { namespace: string; taskQueue: string; identity: string },
): Promise<number | null> {
  const begunMs = Date.now();
  const deadlineMs = begunMs + TIMING.worker.visibleWithinMs;
  for (;;) {
    const pollers = await connection
      .withDeadline(deadlineMs, () => pollersOf(connection.workflowService, { namespace, taskQueue }))
      .catch(() => null);
    if (pollers === null) return null;
    const own = pollers.find((poller) => poller.identity === identity);
    // It polled at some time since the start.
    if (own !== undefined) return Math.round((begunMs + Date.now()) / 2 - own.polledMs);
    await sleep(TIMING.worker.visiblePauseMs);
  }
}
