/** Waits that begin and end all the time: what a whole wait costs, and how late its end is seen. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { usedBy, type BlockPlan, type Measured } from './block.ts';
import { shareOf } from '../statistics/share-of.ts';

export interface Steady {
  way: string;
  round: number;
  waits: number;
  /** From the request to the read that sees the end. */
  cpuMsPerWait: number;
  /** From the end at the service to the read that sees it, in milliseconds, ascending. */
  seenAfterMs: number[];
  seenAfterP50Ms: number;
  seenAfterP99Ms: number;
}

const STARTS_PER_SECOND = 2;
const INTERVALS_LONG = 2.5;
const END_LIMIT_MS = 5 * 60_000;

export async function measureSteady(
  { way, round, open, service }: Measured,
  { measureMs, intervalMs }: BlockPlan,
): Promise<Steady> {
  const waits = Math.round((measureMs / 1_000) * STARTS_PER_SECOND);
  const sites = Array.from({ length: waits }, (_, index) => `steady-${way.replaceAll(/\W+/g, '-')}-${round}-${index}`);
  const durationMs = INTERVALS_LONG * intervalMs;
  for (const site of sites) service.script({ site }, { durationMs, words: ['building'] });
  const before = usedBy(open);
  for (const site of sites) {
    await open.begin(site);
    await sleep(1_000 / STARTS_PER_SECOND);
  }
  const seen = new Map<string, number>();
  const allSeen = () => {
    const begun = new Map<string, number>();
    for (const { request, at, said } of service.journal) {
      const [method, , , , site = ''] = request.split(/[ /]/);
      if (method === 'POST') begun.set(site, Date.parse(at));
      if (method !== 'GET' || said !== 'completed' || seen.has(site)) continue;
      seen.set(site, Date.parse(at) - (begun.get(site) ?? NaN) - durationMs);
    }
    return sites.every((site) => seen.has(site));
  };
  await eventually('the end of every wait', allSeen, END_LIMIT_MS);
  const cpuMsPerWait = (usedBy(open).cpuMs - before.cpuMs) / waits;
  const seenAfterMs = sites.map((site) => Math.max(0, seen.get(site)!)).sort((a, b) => a - b);
  return {
    ...{ way, round, waits, cpuMsPerWait, seenAfterMs },
    seenAfterP50Ms: shareOf(seenAfterMs, 0.5),
    seenAfterP99Ms: shareOf(seenAfterMs, 0.99),
  };
}
