/** Checks which workers poll the task queue: their versions, where they run, and since when. */
import { NO_WORKER_REMEDY, seenOn } from '../../client/workers.ts';
import { problemOfWorkers } from '../../client/require-worker.ts';
import type { Poller, QueueState } from '../../client/pollers.ts';
import { findSilentRun } from './silent-run.ts';
import { findUnserved } from '../../client/runs/unserved-version.ts';
import { moveRuns, versionText } from '../../contract/worker-version.ts';
import { parseIdentity } from '../../contract/worker-identity.ts';
import { counted } from '../../contract/tally-text.ts';
import { encryptionCheck } from './encryption.ts';
import { policyCheck } from './policy.ts';
import type { NamespaceConnection, Check } from '../../cli/doctor-check.ts';

/** The workers of the queue; null if Temporal does not answer. */
type Look = () => Promise<(NamespaceConnection & { seen: QueueState }) | null>;

/** Temporal is asked once for all of them. */
export function workerChecks(reach: () => Promise<NamespaceConnection>, taskQueue: string): Check[] {
  let asked: ReturnType<Look> | undefined;
  const look: Look = () => (asked ??= lookAt(reach, taskQueue));
  return [workerCheck(look, taskQueue), encryptionCheck(look, taskQueue), policyCheck(look, taskQueue)];
}

async function lookAt(reach: () => Promise<NamespaceConnection>, taskQueue: string): ReturnType<Look> {
  const place = await reach().catch(() => null);
  return place === null ? null : { ...place, seen: await seenOn(place.connection, place.namespace, taskQueue) };
}

const workerCheck = (look: Look, taskQueue: string): Check => ({
  name: 'worker',
  run: async () => {
    const looked = await look();
    if (looked === null) return { state: 'skipped', message: 'Temporal does not answer' };
    const { connection, namespace, seen } = looked;
    const problem = problemOfWorkers(seen, taskQueue);
    if (problem !== null) return { state: 'failed', ...problem };
    const waiting = await findUnserved(connection, { namespace, taskQueue }, seen).catch(() => null);
    if (waiting === null) {
      const silent = await findSilentRun(connection, { namespace, taskQueue }).catch(() => null);
      const workers = seen.pollers.map(describe).join('; ');
      if (silent === null) return { state: 'ok', message: workers };
      const message = `no worker answers for ${silent}, although one polled in the last minute or so: ${workers}`;
      return { state: 'failed', message, remedy: NO_WORKER_REMEDY };
    }
    const { count, version } = waiting;
    const message = `${counted(count, 'workflow waits', 'workflows wait')} for workers of another build, such as ${versionText(version)}`;
    return { state: 'failed', message, remedy: `start such a worker, or move them: \`${moveRuns(version)}\`` };
  },
});

function describe({ identity, version }: Poller): string {
  const worker = parseIdentity(identity);
  if (worker === null) return `${identity}, which is not a worker of Belay`;
  const build = version === null ? '' : `, build ${versionText(version)}`;
  return `${worker.version}${build} at ${worker.where} for ${worker.service} since ${worker.since}`;
}
