/** Checks which workers poll the task queue: their versions, where they run, and since when. */
import { NO_WORKER_REMEDY, workersSeen } from '../../client/connection/workers-seen.ts';
import { parseIdentity } from '../../contract/ids/worker-identity.ts';
import type { NamespaceConnection, Check, Finding } from './check.ts';

export function workerCheck(reach: () => Promise<NamespaceConnection>, taskQueue: string): Check {
  return {
    name: 'worker',
    run: async () => {
      const place = await reach().catch(() => null);
      return place === null
        ? { state: 'skipped', message: 'Temporal does not answer' }
        : checkWorkers(place, taskQueue);
    },
  };
}

async function checkWorkers({ connection, namespace }: NamespaceConnection, taskQueue: string): Promise<Finding> {
  const identities = await workersSeen(connection, namespace, taskQueue);
  if (identities.length === 0) {
    return { state: 'failed', message: `no worker polls the task queue "${taskQueue}"`, remedy: NO_WORKER_REMEDY };
  }
  return { state: 'ok', message: identities.map(describe).join('; ') };
}

function describe(identity: string): string {
  const worker = parseIdentity(identity);
  return worker === null
    ? `${identity}, which is not a worker of Belay`
    : `${worker.version} at ${worker.where} for ${worker.service} since ${worker.since}`;
}
