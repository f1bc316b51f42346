/** Checks which workers poll the task queue: their versions, where they run, and since when. */
import { problemOfWorkers } from '../../client/connection/require-worker.ts';
import type { Poller } from '../../client/connection/pollers.ts';
import { findUnserved } from '../../client/runs/unserved-version.ts';
import { seenOn } from '../../client/connection/workers-seen.ts';
import { moveRuns, versionText } from '../../contract/worker-version.ts';
import { parseIdentity } from '../../contract/ids/worker-identity.ts';
import { encryptionCheck } from './encryption.ts';
import type { NamespaceConnection, Check, Finding } from './check.ts';

export const workerChecks = (reach: () => Promise<NamespaceConnection>, taskQueue: string): Check[] => [
  workerCheck(reach, taskQueue),
  encryptionCheck(reach, taskQueue),
];

function workerCheck(reach: () => Promise<NamespaceConnection>, taskQueue: string): Check {
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
  const seen = await seenOn(connection, namespace, taskQueue);
  const problem = problemOfWorkers(seen, taskQueue);
  if (problem !== null) return { state: 'failed', ...problem };
  const waiting = await findUnserved(connection, { namespace, taskQueue }, seen).catch(() => null);
  if (waiting === null) return { state: 'ok', message: seen.pollers.map(describe).join('; ') };
  const { count, version } = waiting;
  const message = `${count} workflows wait for workers of another build, such as ${versionText(version)}`;
  return { state: 'failed', message, remedy: `start such a worker, or move them: \`${moveRuns(version)}\`` };
}

function describe({ identity, version }: Poller): string {
  const worker = parseIdentity(identity);
  if (worker === null) return `${identity}, which is not a worker of Belay`;
  const build = version === null ? '' : `, build ${versionText(version)}`;
  return `${worker.version}${build} at ${worker.where} for ${worker.service} since ${worker.since}`;
}
