/** Checks for a worker before a start, so that no run waits unnoticed for hours. */
import { BelayError } from '../contract/errors.ts';
import { makeCurrent, versionText } from '../contract/worker-version.ts';
import type { QueueState } from './pollers.ts';
import { agreeOnEncryption } from './agree-on-encryption.ts';
import type { Session } from './session.ts';
import { identitiesOf, NO_WORKER_REMEDY, takeNewRuns } from './workers.ts';

/** @returns the identities of the queue's workers. @throws BelayError `NoWorker` or `Usage` */
export async function requireWorkers(session: Session): Promise<string[]> {
  const { taskQueue } = session;
  const seen = await session.workers((it) => problemOfWorkers(it, taskQueue) === null);
  const workers = identitiesOf(seen);
  agreeOnEncryption(session, workers);
  const problem = problemOfWorkers(seen, taskQueue);
  if (problem !== null) throw new BelayError('NoWorker', `${problem.message}: ${problem.remedy}`);
  return workers;
}

/** Why no worker takes runs that begin now, or null. */
export function problemOfWorkers(seen: QueueState, taskQueue: string): { message: string; remedy: string } | null {
  if (takeNewRuns(seen).length > 0) return null;
  if (seen.pollers.length === 0) {
    return { message: `no worker polls the task queue "${taskQueue}"`, remedy: NO_WORKER_REMEDY };
  }
  const current = seen.current.map((it) => (it === null ? 'workers without a version' : versionText(it)));
  const message = `no worker of the current version polls the task queue "${taskQueue}": that is ${current.join(' and ')}`;
  const [polling] = seen.pollers.map(({ version }) => version).filter((it) => it !== null);
  const start = 'start such a worker';
  if (polling === undefined) return { message, remedy: start };
  return { message, remedy: `${start}, or make the build that polls current: \`${makeCurrent(polling)}\`` };
}
