/**
 * What a worker asks and tells Temporal about its task queue: whether workers of another service poll it, which policy this
 * worker applies, and whether its own polls are seen.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { workersSeen } from '../client/workers.ts';
import { BelayError } from '../contract/errors.ts';
import { isServed, type ServedService } from '../contract/service-identity.ts';
import { parseIdentity, policyNoticeText, policyQueue } from '../contract/worker-identity.ts';
import { TIMING } from '../contract/timing.ts';
import { pollOnce } from '../client/server-time.ts';
import type { CurrentPolicy } from '../config/live-policy.ts';
import { pollersOf, type QueuePoller } from '../client/pollers.ts';

export interface PolledQueue {
  namespace: string;
  taskQueue: string;
  identity: string;
  served: ServedService;
}

/**
 * Keeps workers of two services off one task queue, because workers of one service would take runs of the other, and refuse
 * them. Call this before this worker polls, and again once it is listed. Of two workers that start at the same time, the one
 * listed last sees the other and leaves. If each sees the other, both leave, because neither knows what the other saw.
 *
 * @throws BelayError `Usage`
 */
export async function refuseOtherService(connection: ConnectionLike, queue: PolledQueue): Promise<void> {
  const { namespace, taskQueue, served } = queue;
  const identities = await connection
    .withDeadline(Date.now() + TIMING.worker.visibleWithinMs, () => workersSeen(connection, namespace, taskQueue))
    .catch((): string[] => []);
  const other = identities.map(parseIdentity).find((it) => it !== null && !isServed(it.service, served));
  if (other === undefined || other === null) return;
  const remedy =
    'give each service a namespace of its own, or at least another BELAY_TASK_QUEUE; ' +
    'a worker that has stopped counts for 70 s; if the service has moved, list its old URL under formerly: in belay.yaml';
  throw new BelayError(
    'Usage',
    `a worker for ${other.service} (${other.where}) polls the task queue "${taskQueue}" of namespace ${namespace}, ` +
      `and this one is for ${served.service}: ${remedy}`,
  );
}

/*
 * Lets `belay doctor` compare the policies of all workers of a queue. A connection that may not poll reports nothing.
 */

/** Reports the policy again and again until aborted, because Temporal forgets a poll after five minutes. */
export async function announcePolicy(
  connection: ConnectionLike,
  policy: CurrentPolicy,
  { namespace, taskQueue, identity }: PolledQueue,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const { hash, isLatest } = await policy();
    const notice = policyNoticeText({ hash, isLatest, worker: identity });
    const reported = { namespace, taskQueue: policyQueue(taskQueue), identity: notice, signal };
    await pollOnce(connection, reported).catch(() => undefined);
    await sleep(TIMING.worker.policyMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/* Asks Temporal whether it sees this worker poll. A run can start as soon as it does. */

/**
 * Call this when the worker begins to poll.
 *
 * @returns how far this machine's clock is ahead of Temporal's, measured by that first poll. Null if Temporal does not
 * answer in time; the worker then starts without this check.
 */
export async function waitUntilPolling(connection: ConnectionLike, queue: PolledQueue): Promise<number | null> {
  const beganMs = Date.now();
  const deadlineMs = beganMs + TIMING.worker.visibleWithinMs;
  for (let pauseMs = TIMING.worker.visiblePauseMs; ; pauseMs *= 2) {
    const polled = await ownPoll(connection, queue, deadlineMs).catch(() => null);
    if (polled === null) return null;
    // The poll began at some time since the start.
    if (polled !== undefined) return Math.round((beganMs + Date.now()) / 2 - polled.polledMs);
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
  { namespace, taskQueue, identity }: PolledQueue,
  deadlineMs: number,
): Promise<QueuePoller | undefined> {
  const pollers = await connection.withDeadline(deadlineMs, () =>
    pollersOf(connection.workflowService, { namespace, taskQueue }),
  );
  return pollers.find((poller) => poller.identity === identity);
}
