/** Keeps workers of two services off one task queue: runs of one would be executed, and refused, by the other's. */
import type { ConnectionLike } from '@temporalio/client';
import { workersSeen } from '../client/workers.ts';
import { BelayError } from '../contract/errors.ts';
import { isServed, type ServedService } from '../contract/service-identity.ts';
import { parseIdentity } from '../contract/worker-identity.ts';
import { TIMING } from '../contract/timing.ts';

export interface PolledQueue {
  namespace: string;
  taskQueue: string;
  /** This worker's. */
  identity: string;
  served: ServedService;
}

/**
 * Call it before this worker polls, and again once it is listed: of two that start at the same time, the one that is
 * listed last sees the other and goes. If each sees the other, both go, because neither knows what the other saw.
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
