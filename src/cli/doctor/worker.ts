/** The workers: which versions poll the task queue, where, since when. */
import { NO_WORKER_REMEDY, workersSeen } from '../../client/connection/pollers.ts';
import { parseIdentity } from '../../worker/identity.ts';
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
    return { state: 'failed', message: `none polls the task queue "${taskQueue}"`, remedy: NO_WORKER_REMEDY };
  }
  return { state: 'ok', message: identities.map(describe).join('; ') };
}

function describe(identity: string): string {
  const worker = parseIdentity(identity);
  return worker === null
    ? `${identity}, not one of Belay's`
    : `${worker.version} at ${worker.where} since ${worker.since}`;
}
