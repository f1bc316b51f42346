/** Lists the workers that polled a task queue recently by Temporal's clock, because that of this machine may differ. */
import type { ConnectionLike } from '@temporalio/client';
import { isSameVersion, makeCurrent, versionText, parseIdentity } from '../contract/worker-identity.ts';
import { TIMING } from '../contract/timing.ts';
import { latelyPolling, queueState, type QueueState } from './pollers.ts';
import { serverTimeMs } from './server-time.ts';
import { BelayError } from '../contract/errors.ts';
import type { Session } from './session.ts';

export const NO_WORKER_REMEDY = 'start one with `belay worker`, or set BELAY_TASK_QUEUE to the queue it polls';

/** @returns the identities of all workers, whatever their version */
export async function workersSeen(connection: ConnectionLike, namespace: string, taskQueue: string): Promise<string[]> {
  return pollerIdentities(await seenOn(connection, namespace, taskQueue));
}

export const pollerIdentities = ({ pollers }: QueueState): string[] => pollers.map(({ identity }) => identity);

export async function seenOn(connection: ConnectionLike, namespace: string, taskQueue: string): Promise<QueueState> {
  const { workflowService } = connection;
  const asked = queueState(workflowService, { namespace, taskQueue });
  // The credentials may not allow a poll. Then a worker counts as polling if it polled about as late as the latest one.
  const [state, nowMs] = await Promise.all([asked, serverTimeMs(connection, namespace, asked).catch(() => -Infinity)]);
  return { ...state, pollers: latelyPolling(state.pollers, nowMs) };
}

/** Finds the workers of a queue. Temporal limits how often it can be asked, so questions share their answers. */
export interface SeenWorkers {
  /** @param isEnough tells whether an answer that is some seconds old will do */
  (isEnough?: (seen: QueueState) => boolean): Promise<QueueState>;
}

export function shareSeen(ask: () => Promise<QueueState>, clockMs = () => performance.now()): SeenWorkers {
  let asking: Promise<QueueState> | null = null;
  let known: { atMs: number; seen: QueueState } | null = null;
  async function askNow(): Promise<QueueState> {
    const atMs = clockMs();
    const seen = await ask();
    known = { atMs, seen };
    return seen;
  }
  return async (isEnough = () => true) => {
    const isRecent = known !== null && clockMs() - known.atMs < TIMING.client.workersKnownForMs;
    if (known !== null && isRecent && isEnough(known.seen)) return known.seen;
    return (asking ??= askNow().finally(() => (asking = null)));
  };
}

/** Returns the workers that take new runs. The other workers have a build that is not current. */
export const takeNewRuns = ({ pollers, current }: QueueState) =>
  pollers.filter(({ version }) => current.some((it) => isSameVersion(it, version)));

/* Checks for a worker before a start, so that no run waits unnoticed for hours. */

/** @returns the identities of the queue's workers. @throws BelayError `NoWorker` or `Usage` */
export async function requireWorkers(session: Session): Promise<string[]> {
  const { taskQueue } = session;
  const seen = await session.workers((it) => problemOfWorkers(it, taskQueue) === null);
  const workers = pollerIdentities(seen);
  requireSameEncryption(session, workers);
  const problem = problemOfWorkers(seen, taskQueue);
  if (problem !== null) throw new BelayError('NoWorker', `${problem.message}: ${problem.remedy}`);
  return workers;
}

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

/* Keeps a starter from giving the workers what they refuse to read, and from starting what it cannot read itself. */

/**
 * One worker that agrees is enough, because a worker that has stopped is listed for another minute. @throws BelayError
 * `Usage`
 */
export function requireSameEncryption(
  { encrypts, taskQueue }: Pick<Session, 'encrypts' | 'taskQueue'>,
  workers: readonly string[],
): void {
  const ours = workers.flatMap((identity) => parseIdentity(identity) ?? []);
  if (ours.length === 0 || ours.some((it) => (it.encrypts ?? false) === encrypts)) return;
  const problem = encrypts
    ? `the workers of the task queue "${taskQueue}" do not encrypt, and this program does`
    : `the workers of the task queue "${taskQueue}" encrypt, and this program has no key`;
  const remedy = `set BELAY_CODEC_KEYS_FILE ${encrypts ? 'where they run, too' : 'to the key file that they have'}`;
  throw new BelayError('Usage', `${problem}: ${remedy}`);
}
