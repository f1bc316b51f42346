/** Kills the worker with all its waits in flight, starts another one, and follows the reads. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service, StatusRead } from '../service/start-service.ts';
import { firstReadsAfter, readsPerSecond } from '../statistics/restart.ts';
import { spreadOf, type Spread } from '../statistics/spread.ts';
import type { KillableStack } from './belay-stack.ts';

const LOOK_MS = 1_000;
const LIMIT_MS = 5 * 60_000;
const SECOND_MS = 1_000;

export interface Kill {
  waits: number;
  /** From the start of the new worker until it polls. */
  pollsAfterMs: number;
  /** From the start of the new worker to the first read of all. */
  firstMs: number;
  /** To the first read of each wait. */
  after: Spread;
  afterMs: number[];
  /** Waits that were not read within the limit. */
  unread: number;
  /** How many reads were due from the kill until the last wait was read, and how many were made. */
  due: number;
  made: number;
  /** Reads in each second, and in which of them the kill and the start of the new worker were. */
  perSecond: number[];
  killedAtS: number;
  startedAtS: number;
}

/** @param beforeMs how long the reads are followed before the kill. They are followed two intervals after all are read */
export async function killAndFollow(
  stack: KillableStack,
  service: Service,
  sites: readonly string[],
  { intervalMs, beforeMs }: { intervalMs: number; beforeMs: number },
): Promise<Kill> {
  await service.take();
  const fromMs = Date.now();
  await sleep(beforeMs);
  const killedMs = Date.now();
  await stack.killWorker();
  const startedMs = Date.now();
  await stack.startWorker();
  const pollsAfterMs = Date.now() - startedMs;
  const reads: StatusRead[] = [];
  const firstReads = () => firstReadsAfter(startedMs, sites, reads);
  for (;;) {
    reads.push(...(await service.take()).reads);
    if (firstReads().unread === 0 || Date.now() - startedMs > LIMIT_MS) break;
    await sleep(LOOK_MS);
  }
  const { afterMs, unread } = firstReads();
  const allReadMs = startedMs + (afterMs.at(-1) ?? NaN);
  await sleep(2 * intervalMs);
  reads.push(...(await service.take()).reads);
  return {
    ...{ waits: sites.length, pollsAfterMs, firstMs: afterMs[0] ?? NaN, after: spreadOf(afterMs), afterMs, unread },
    due: Math.round((sites.length * (allReadMs - killedMs)) / intervalMs),
    made: reads.filter(({ atMs }) => atMs >= killedMs && atMs <= allReadMs).length,
    perSecond: readsPerSecond(reads, { fromMs, toMs: Date.now() }),
    killedAtS: (killedMs - fromMs) / SECOND_MS,
    startedAtS: (startedMs - fromMs) / SECOND_MS,
  };
}
