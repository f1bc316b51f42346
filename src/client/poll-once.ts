/** Polls a queue on which nothing is scheduled. Temporal remembers for minutes who polled, and when. */
import type { ConnectionLike } from '@temporalio/client';
import { TIMING } from '../contract/timing.ts';

interface EmptyQueue {
  namespace: string;
  taskQueue: string;
  identity: string;
  /** Ends the poll. */
  signal: AbortSignal;
}

/** Resolves when Temporal ends the poll. @throws if Temporal does not answer, or lets this client not poll */
export async function pollOnce(
  connection: ConnectionLike,
  { namespace, taskQueue, identity, signal }: EmptyQueue,
): Promise<void> {
  const poll = { namespace, taskQueue: { name: taskQueue }, identity };
  await connection.withDeadline(Date.now() + TIMING.client.serverTimeMs, () =>
    connection.withAbortSignal(signal, () => connection.workflowService.pollActivityTaskQueue(poll)),
  );
}
