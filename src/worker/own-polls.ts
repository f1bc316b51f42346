/** Asks Temporal whether it sees this worker poll. A run can start as soon as it does. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { pollersOf, type Poller } from '../client/pollers.ts';
import { TIMING } from '../contract/timing.ts';
import type { PolledQueue } from './queue.ts';

/**
 * Call it when the worker begins to poll.
 * @returns how far this machine's clock is ahead of Temporal's, measured by that first poll. Null if Temporal does not
 * answer in time: then the worker starts without this check.
 */
export async function waitUntilPolling(connection: ConnectionLike, queue: PolledQueue): Promise<number | null> {
  const begunMs = Date.now();
  const deadlineMs = begunMs + TIMING.worker.visibleWithinMs;
  for (let pauseMs = TIMING.worker.visiblePauseMs; ; pauseMs *= 2) {
    const polled = await ownPoll(connection, queue, deadlineMs).catch(() => null);
    if (polled === null) return null;
    // It polled at some time since the start.
    if (polled !== undefined) return Math.round((begunMs + Date.now()) / 2 - polled.polledMs);
    await sleep(pauseMs);
  }
}

/** @returns when this worker last began to poll, by Temporal's clock; null if Temporal does not list it */
export async function lastPollMs(connection: ConnectionLike, queue: PolledQueue): Promise<number | null> {
  const polled = await ownPoll(connection, queue, Date.now() + TIMING.worker.visibleWithinMs);
  return polled?.polledMs ?? null;
}

async function ownPoll(
  connection: ConnectionLike,
  { namespace, taskQueue, identity }: Pick<PolledQueue, 'namespace' | 'taskQueue' | 'identity'>,
  deadlineMs: number,
): Promise<Poller | undefined> {
  const pollers = await connection.withDeadline(deadlineMs, () =>
    pollersOf(connection.workflowService, { namespace, taskQueue }),
  );
  return pollers.find((poller) => poller.identity === identity);
}
