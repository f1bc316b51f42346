/** One block of a benchmark: one way holds waits for a while. Its reads are counted where they arrive. */
import { setTimeout as sleep } from 'node:timers/promises';
import pMap from 'p-map';
import { eventually } from '../../test/support/eventually.ts';
import type { Steadiness } from '../load/spin.ts';
import { measureWindow, type Window } from '../load/window.ts';
import { latenessOfGaps } from '../statistics/lateness.ts';
import { spreadOf, type Spread } from '../statistics/spread.ts';
import { slug, type Pace, type Turn } from './way.ts';

export interface BlockPlan extends Pace {
  waits: number;
  measureMs: number;
}

export interface Block extends Pick<Window, 'ownCpuMs' | 'foreignCpuMs' | 'spinMs'> {
  way: string;
  round: number;
  readsMade: number;
  readsDue: number;
  /** How much longer than the interval the gaps between two reads of a wait were, in milliseconds. */
  late: Spread;
  lateMs: number[];
  cpuMsPerRead: number;
  serviceCpuMsPerRead: number;
  /** Resident memory of all its processes, in MB. */
  memoryMb: number;
}

const STARTS_AT_ONCE = 20;
const BEGIN_LIMIT_MS = 5 * 60_000;
const SPARE_MS = 1_000;

export async function measureBlock(
  { way, round, open, service }: Turn,
  { waits, measureMs, intervalMs }: BlockPlan,
  steadiness: Steadiness,
): Promise<Block> {
  const sites = Array.from({ length: waits }, (_, index) => `${slug(way)}-${round}-${index}`);
  const { begun } = await service.counts();
  await service.setDuration(Infinity);
  await pMap(sites, (site) => open.begin(site), { concurrency: STARTS_AT_ONCE });
  const allBegun = async () => (await service.counts()).begun - begun >= waits;
  await eventually('a request of every wait', allBegun, BEGIN_LIMIT_MS);
  await sleep(intervalMs);
  const window = await steadiness.measure(() => measureWindow(service, { way: open.pids() }, measureMs));
  await service.endAll('completed');
  // They see the end within an interval.
  await sleep(intervalMs + SPARE_MS);
  const { reads, fromMs, toMs, cpuMs, memoryMb, ownCpuMs, foreignCpuMs, spinMs } = window;
  const lateMs = latenessOfGaps(reads, intervalMs);
  return {
    ...{ way, round, readsMade: reads.length, late: spreadOf(lateMs), lateMs },
    readsDue: Math.round((waits * (toMs - fromMs)) / intervalMs),
    cpuMsPerRead: cpuMs.way! / reads.length,
    serviceCpuMsPerRead: cpuMs.service! / reads.length,
    memoryMb: memoryMb.way!,
    ...{ ownCpuMs, foreignCpuMs, spinMs },
  };
}
