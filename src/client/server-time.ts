/** Reads Temporal's clock. Temporal records when it last saw a poller, so this polls a queue that no worker uses. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import proto from '@temporalio/proto';
import { TIMING } from '../contract/timing.ts';
import { pollersOf } from './pollers.ts';

const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
/** All clients share one queue, because each queue leaves a record in Temporal's database. */
const TASK_QUEUE = 'belay-clock';

let polls = 0;

/**
 * @param meanwhile another question to Temporal, which takes as long as Temporal needs to begin the poll
 * @throws if Temporal does not answer, or does not allow this client to poll
 */
export async function serverTimeMs(
  connection: ConnectionLike,
  namespace: string,
  meanwhile: Promise<unknown> = Promise.resolve(),
): Promise<number> {
  const identity = `belay clock ${process.pid}-${Date.now()}-${(polls += 1)}`;
  const polling = new AbortController();
  const { signal } = polling;
  const ended = pollOnce(connection, { namespace, taskQueue: TASK_QUEUE, identity, signal });
  // Temporal may delay a call that it limits for longer than this.
  const late = sleep(TIMING.client.serverTimeMs, undefined, { signal, ref: false });
  const seen = meanwhile.then(() => seenMs(connection, namespace, identity));
  try {
    return await Promise.race([seen, Promise.race([ended, late]).then(unseen)]);
  } finally {
    polling.abort();
    for (const other of [ended, late, seen]) other.catch(() => undefined);
  }
}

/** Temporal lists a poller as soon as it polls. */
async function seenMs({ workflowService }: ConnectionLike, namespace: string, identity: string): Promise<number> {
  const endMs = performance.now() + TIMING.client.serverTimeMs;
  for (let pauseMs = TIMING.worker.visiblePauseMs; performance.now() < endMs; pauseMs *= 2) {
    const askedMs = performance.now();
    const pollers = await pollersOf(workflowService, {
      namespace,
      taskQueue: TASK_QUEUE,
      type: TASK_QUEUE_TYPE_ACTIVITY,
    });
    const own = pollers.find((poller) => poller.identity === identity);
    // Adds the time that may have passed since the poll.
    if (own !== undefined) return own.polledMs + (performance.now() - askedMs);
    await sleep(pauseMs);
  }
  return unseen();
}

function unseen(): never {
  throw new Error('Temporal did not report its time');
}

/* Polls a queue on which nothing is scheduled. Temporal remembers for minutes who polled, and when. */

interface EmptyQueue {
  namespace: string;
  taskQueue: string;
  identity: string;
  signal: AbortSignal;
}

/** Resolves when Temporal ends the poll. @throws if Temporal does not answer, or does not allow this client to poll */
export async function pollOnce(
  connection: ConnectionLike,
  { namespace, taskQueue, identity, signal }: EmptyQueue,
): Promise<void> {
  const poll = { namespace, taskQueue: { name: taskQueue }, identity };
  await connection.withDeadline(Date.now() + TIMING.client.serverTimeMs, () =>
    connection.withAbortSignal(signal, () => connection.workflowService.pollActivityTaskQueue(poll)),
  );
}
