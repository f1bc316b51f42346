/** Waits that begin and end all the time: what a whole wait costs, and how late its end is seen. */
import { setTimeout as sleep } from 'node:timers/promises';
import { usedBy } from '../load/window.ts';
import { ascending, spreadOf, type Spread } from '../statistics/spread.ts';
import { slug, type Pace, type Turn } from './way.ts';

export interface SteadyPlan extends Pace {
  steadyMs: number;
}

export interface Steady {
  way: string;
  round: number;
  waits: number;
  /** From the request to the read that sees the end. */
  cpuMsPerWait: number;
  /** From the end at the service to the read that sees it, in milliseconds. */
  seenAfter: Spread;
  seenAfterMs: number[];
}

const STARTS_PER_SECOND = 2;
const INTERVALS_LONG = 2.5;
const LOOK_MS = 250;
const END_LIMIT_MS = 5 * 60_000;

export async function measureSteady(
  { way, round, open, service }: Turn,
  { steadyMs, intervalMs }: SteadyPlan,
): Promise<Steady> {
  const waits = Math.round((steadyMs / 1_000) * STARTS_PER_SECOND);
  const sites = Array.from({ length: waits }, (_, index) => `steady-${slug(way)}-${round}-${index}`);
  const durationMs = INTERVALS_LONG * intervalMs;
  await service.setDuration(durationMs);
  await service.take();
  const before = usedBy(open.pids());
  for (const site of sites) {
    await open.begin(site);
    await sleep(1_000 / STARTS_PER_SECOND);
  }
  const begun = new Map<string, number>();
  const seen = new Map<string, number>();
  const limitMs = Date.now() + END_LIMIT_MS;
  while (!sites.every((site) => seen.has(site))) {
    if (Date.now() > limitMs) throw new Error(`${way} did not see the end of every wait`);
    await sleep(LOOK_MS);
    const { posts, reads } = await service.take();
    for (const { site, atMs } of posts) begun.set(site, atMs);
    for (const { site, atMs, isFinal } of reads) if (isFinal && !seen.has(site)) seen.set(site, atMs);
  }
  const cpuMsPerWait = (usedBy(open.pids()).cpuMs - before.cpuMs) / waits;
  const seenAfterMs = ascending(sites.map((site) => Math.max(0, seen.get(site)! - begun.get(site)! - durationMs)));
  return { way, round, waits, cpuMsPerWait, seenAfter: spreadOf(seenAfterMs), seenAfterMs };
}
