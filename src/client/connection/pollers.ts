/** The pollers of a task queue, as Temporal remembers them. */
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { WorkflowService } from '@temporalio/client';
import { TIMING } from '../../contract/timing.ts';

const { TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

export interface Poller {
  identity: string;
  /** By Temporal's clock. */
  polledMs: number;
}

interface PolledQueue {
  namespace: string;
  taskQueue: string;
  /** Default: that of workflow tasks. */
  type?: proto.temporal.api.enums.v1.TaskQueueType;
}

/** Whether they still poll or not. */
export async function pollersOf(
  service: Pick<WorkflowService, 'describeTaskQueue'>,
  { namespace, taskQueue, type = TASK_QUEUE_TYPE_WORKFLOW }: PolledQueue,
): Promise<Poller[]> {
  const { pollers } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: type,
  });
  return pollers.map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    polledMs: optionalTsToMs(lastAccessTime) ?? 0,
  }));
}

/**
 * The identities of those that polled within one long poll of the latest, because the clock of this machine may differ
 * from Temporal's.
 * @param nowMs by Temporal's clock, if it is known
 */
export function latelyPolling(pollers: readonly Poller[], nowMs = -Infinity): string[] {
  const latestMs = Math.max(nowMs, ...pollers.map(({ polledMs }) => polledMs));
  return pollers
    .filter(({ polledMs }) => latestMs - polledMs < TIMING.worker.seenWithinMs)
    .map(({ identity }) => identity);
}
