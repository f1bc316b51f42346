/** Reads the pollers of a task queue, as Temporal remembers them. */
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { WorkflowService } from '@temporalio/client';
import { TIMING } from '../contract/timing.ts';
import type { WorkerVersion } from '../contract/worker-identity.ts';

const { TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;
const { WORKER_VERSIONING_MODE_VERSIONED: VERSIONED } = proto.temporal.api.enums.v1.WorkerVersioningMode;

export interface QueuePoller {
  identity: string;
  /** By Temporal's clock. */
  polledMs: number;
  /** Null if the poller is not versioned. */
  version: WorkerVersion | null;
}

export interface QueueState {
  pollers: QueuePoller[];
  /**
   * The versions that get new runs. Null stands for unversioned workers. If there are two, new runs are divided between
   * them.
   */
  current: (WorkerVersion | null)[];
}

interface PolledQueue {
  namespace: string;
  taskQueue: string;
  /** Default: the queue of workflow tasks. */
  type?: proto.temporal.api.enums.v1.TaskQueueType;
}

/** Includes pollers that have stopped. */
export async function pollersOf(...asked: Parameters<typeof queueState>): Promise<QueuePoller[]> {
  return (await queueState(...asked)).pollers;
}

export async function queueState(
  service: Pick<WorkflowService, 'describeTaskQueue'>,
  { namespace, taskQueue, type = TASK_QUEUE_TYPE_WORKFLOW }: PolledQueue,
): Promise<QueueState> {
  const { pollers, versioningInfo } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: type,
  });
  const ramping = versioningInfo?.rampingVersionPercentage ?? 0;
  return {
    pollers: pollers.map(({ identity, lastAccessTime, deploymentOptions }) => ({
      identity: identity ?? '',
      polledMs: optionalTsToMs(lastAccessTime) ?? 0,
      version: deploymentOptions?.workerVersioningMode === VERSIONED ? toVersion(deploymentOptions) : null,
    })),
    current: [
      ...(ramping < 100 ? [toVersion(versioningInfo?.currentDeploymentVersion)] : []),
      ...(ramping > 0 ? [toVersion(versioningInfo?.rampingDeploymentVersion)] : []),
    ],
  };
}

type SentVersion = { deploymentName?: string | null; buildId?: string | null } | null | undefined;

/** Temporal leaves the version out if there is none. */
export function toVersion(sent: SentVersion): WorkerVersion | null {
  const { deploymentName, buildId } = sent ?? {};
  return typeof deploymentName === 'string' && typeof buildId === 'string' ? { deploymentName, buildId } : null;
}

/**
 * Returns the pollers that polled within one long poll of the latest, because the clock of this machine may differ from
 * Temporal's.
 *
 * @param nowMs by Temporal's clock, if it is known
 */
export function latelyPolling<P extends Pick<QueuePoller, 'polledMs'>>(pollers: readonly P[], nowMs = -Infinity): P[] {
  const latestMs = Math.max(nowMs, ...pollers.map(({ polledMs }) => polledMs));
  return pollers.filter(({ polledMs }) => latestMs - polledMs < TIMING.worker.seenWithinMs);
}
