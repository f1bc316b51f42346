/** Reads Temporal's clock. Temporal records when it last saw a poller, so this polls a queue that no worker uses. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import proto from '@temporalio/proto';
import { TIMING } from '../../contract/timing.ts';
import { pollersOf } from './pollers.ts';

const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
/** One for everybody, because each queue leaves a record in Temporal's database. */
const TASK_QUEUE = 'belay-clock';

let polls = 0;

/** @throws if Temporal does not answer, or lets this client not poll */
export async function serverTimeMs(connection: ConnectionLike, namespace: string): Promise<number> {
  const identity = `belay clock ${process.pid}-${Date.now()}-${(polls += 1)}`;
  const { workflowService } = connection;
  const polling = new AbortController();
  const deadlineMs = Date.now() + TIMING.client.serverTimeMs;
  const ended = connection.withDeadline(deadlineMs, () =>
    connection.withAbortSignal(polling.signal, () =>
      workflowService.pollActivityTaskQueue({ namespace, taskQueue: { name: TASK_QUEUE }, identity }),
    ),
  );
  try {
    return await Promise.race([seenMs(connection, namespace, identity), ended.then(() => unseen())]);
  } finally {
    polling.abort();
    ended.catch(() => undefined);
  }
}

/** Temporal lists a poller as soon as it polls. */
async function seenMs({ workflowService }: ConnectionLike, namespace: string, identity: string): Promise<number> {
  const endMs = performance.now() + TIMING.client.serverTimeMs;
  while (performance.now() < endMs) {
    const askedMs = performance.now();
    const pollers = await pollersOf(workflowService, {
      namespace,
      taskQueue: TASK_QUEUE,
      type: TASK_QUEUE_TYPE_ACTIVITY,
    });
    const own = pollers.find((poller) => poller.identity === identity);
    // Adds the time that may have passed since the poll.
    if (own !== undefined) return own.polledMs + (performance.now() - askedMs);
    await sleep(TIMING.worker.visiblePauseMs);
  }
  return unseen();
}

function unseen(): never {
  throw new Error('Temporal did not report its time');
}
