/** The workers: which versions poll the task queue, where, since when. */
import { workersSeen } from '../starter/workers.ts';
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
  const identities = await workersSeen(connection.workflowService, namespace, taskQueue);
  if (identities.length === 0) {
    const remedy = 'start one with `belay worker`, or set BELAY_TASK_QUEUE to the queue it polls';
    return { state: 'failed', message: `none polls the task queue "${taskQueue}"`, remedy };
  }
  return { state: 'ok', message: identities.map(describe).join('; ') };
}

function describe(identity: string): string {
  const worker = parseIdentity(identity);
  return worker === null
    ? `${identity}, not one of Belay's`
    : `${worker.version} at ${worker.where} since ${worker.since}`;
}
