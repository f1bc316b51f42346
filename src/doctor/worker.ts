/** The workers: which versions poll the task queue, where, since when. */
import proto from '@temporalio/proto';
import { parseIdentity } from '../worker/identity.ts';
import type { Check, Finding } from './check.ts';
import type { Place } from './place.ts';

export function workerCheck(reach: () => Promise<Place>, taskQueue: string): Check {
  return {
    name: 'worker',
    look: async () => {
      const place = await reach().catch(() => null);
      return place === null
        ? { state: 'skipped', message: 'Temporal does not answer' }
        : lookAtWorkers(place, taskQueue);
    },
  };
}

async function lookAtWorkers({ connection, namespace }: Place, taskQueue: string): Promise<Finding> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  });
  if (pollers.length === 0) {
    const remedy = 'start one with `belay worker`, or set BELAY_TASK_QUEUE to the queue it polls';
    return { state: 'failed', message: `none polls the task queue "${taskQueue}"`, remedy };
  }
  return { state: 'ok', message: pollers.map(({ identity }) => describe(identity ?? '')).join('; ') };
}

function describe(identity: string): string {
  const worker = parseIdentity(identity);
  return worker === null
    ? `${identity}, not one of Belay's`
    : `${worker.version} at ${worker.where} since ${worker.since}`;
}
