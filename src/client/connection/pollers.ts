/** Whether a worker is there: nothing is started that nobody would take up, or only hours later. */
import proto from '@temporalio/proto';
import type { Client, WorkflowService } from '@temporalio/client';
import { BelayError } from '../../contract/results/belay-error.ts';
import type { Session } from '../session.ts';

/** A poll lasts a minute, so a worker that is there was seen in this time. */
const SEEN_WITHIN_MS = 70_000;

export const NO_WORKER_REMEDY = 'start one with `belay worker`, or set BELAY_TASK_QUEUE to the queue it polls';

export async function workerSeen(client: Client, namespace: string, taskQueue: string): Promise<boolean> {
  return (await workersSeen(client.workflowService, namespace, taskQueue)).length > 0;
}

/** @throws BelayError `NoWorker` */
export async function refuseWithoutWorker({ client, namespace, taskQueue }: Session): Promise<void> {
  if (await workerSeen(client, namespace, taskQueue)) return;
  throw new BelayError('NoWorker', `no worker polls the task queue "${taskQueue}": ${NO_WORKER_REMEDY}`);
}

/** The identities of the workers that polled not long ago. */
export async function workersSeen(
  service: Pick<WorkflowService, 'describeTaskQueue'>,
  namespace: string,
  taskQueue: string,
): Promise<string[]> {
  const { pollers } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  });
  const nowMs = Date.now();
  return pollers
    .filter(({ lastAccessTime }) => nowMs - Number(lastAccessTime?.seconds ?? 0) * 1000 < SEEN_WITHIN_MS)
    .map(({ identity }) => identity ?? '');
}
