/** Divides the ceiling of requests among the workers that Temporal lists for the same service. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { latelyPolling, pollersOf } from '../client/pollers.ts';
import { isServed } from '../contract/service-identity.ts';
import { TIMING } from '../contract/timing.ts';
import { parseIdentity } from '../contract/worker-identity.ts';
import type { Pacer } from '../hosting-api/index.ts';
import type { Logger } from '../process/log.ts';
import type { PolledQueue } from './queue.ts';

/**
 * Sets the worker's share until `ended`. The first share is the whole ceiling. If Temporal does not answer, the worker
 * keeps its last share.
 */
export async function shareCeiling(
  pacer: Pick<Pacer, 'setShare'>,
  ceiling: number | null,
  count: () => Promise<number>,
  { log, ended }: { log: Logger; ended: AbortSignal },
): Promise<void> {
  pacer.setShare(ceiling);
  let known: number | null = null;
  while (ceiling !== null && !ended.aborted) {
    const workers = await count().catch(() => null);
    if (workers !== null && workers !== known) {
      known = workers;
      const share = ceiling / workers;
      pacer.setShare(share);
      log.info({ share, ceiling, workers }, 'requests per second that this worker may make');
    }
    await sleep(TIMING.pace.countWorkersMs, undefined, { signal: ended, ref: false }).catch(() => undefined);
  }
}

/** @returns how many workers serve the service on this queue, including this one */
export async function countWorkers(connection: ConnectionLike, queue: PolledQueue): Promise<number> {
  const pollers = await connection.withDeadline(Date.now() + TIMING.lookup.pollersMs, () =>
    pollersOf(connection.workflowService, queue),
  );
  return sharers(
    latelyPolling(pollers).map(({ identity }) => identity),
    queue,
  );
}

/** This worker counts even while it is not listed. */
export function sharers(
  identities: readonly string[],
  { identity, served }: Pick<PolledQueue, 'identity' | 'served'>,
): number {
  const others = identities.filter((it) => {
    const worker = it === identity ? null : parseIdentity(it);
    return worker !== null && isServed(worker.service, served);
  });
  return new Set(others).size + 1;
}
