/** One block of a benchmark: one way holds waits for a while. Its reads are counted where they arrive. */
import { setTimeout as sleep } from 'node:timers/promises';
import pMap from 'p-map';
import { eventually } from '../../test/support/eventually.ts';
import { machineBusyMs, usedByTree, type Used } from '../processes.ts';
import { shareOf } from '../statistics/share-of.ts';
import type { OpenWay, Pace, Service } from './way.ts';

export interface BlockPlan extends Pace {
  waits: number;
  measureMs: number;
}

export interface Block {
  way: string;
  round: number;
  readsMade: number;
  readsDue: number;
  /** How much longer than the interval the gaps between two reads of a wait were, in milliseconds, ascending. */
  lateMs: number[];
  lateP50Ms: number;
  lateP99Ms: number;
  cpuMsPerRead: number;
  /** Resident memory of all its processes, in MB. */
  memoryMb: number;
  /** Of this process: the service and the starts. */
  ownCpuMs: number;
  /** Of the machine, besides the way and this process. */
  foreignCpuMs: number;
  /** A fixed piece of work, before and after. */
  spinMs: [before: number, after: number];
}

const STARTS_AT_ONCE = 20;
const BEGIN_LIMIT_MS = 5 * 60_000;
const SPIN_ROUNDS = 20_000_000;
const US_PER_MS = 1_000;

export interface Measured {
  way: string;
  round: number;
  open: OpenWay;
  service: Service;
}

export async function measureBlock(
  { way, round, open, service }: Measured,
  { waits, measureMs, intervalMs }: BlockPlan,
): Promise<Block> {
  const sites = Array.from({ length: waits }, (_, index) => `${slug(way)}-${round}-${index}`);
  for (const site of sites) service.script({ site }, { ends: 'never', words: ['building'] });
  await pMap(sites, (site) => open.begin(site), { concurrency: STARTS_AT_ONCE });
  const pending = new Set(sites.map((site) => `POST /v1/sites/${site}/deploy`));
  const allBegun = () => {
    for (const { request } of service.journal) pending.delete(request);
    return pending.size === 0;
  };
  await eventually('a request of every wait', allBegun, BEGIN_LIMIT_MS);
  await sleep(intervalMs);
  const spinBefore = spin();
  const before = { ...usedBy(open), own: ownCpu(), machine: machineBusyMs() };
  const fromMs = Date.now();
  await sleep(measureMs);
  const toMs = Date.now();
  const after = { ...usedBy(open), own: ownCpu(), machine: machineBusyMs() };
  const spinAfter = spin();
  const lateMs = lateness(service, sites, { fromMs, toMs, intervalMs });
  const readsMade = readsOf(service, sites, { fromMs, toMs }).length;
  for (const site of sites) service.finish({ site }, 'completed');
  await sleep(2 * intervalMs);
  const cpuMs = after.cpuMs - before.cpuMs;
  const ownCpuMs = after.own - before.own;
  return {
    ...{ way, round, readsMade, lateMs, ownCpuMs },
    readsDue: Math.round((waits * (toMs - fromMs)) / intervalMs),
    lateP50Ms: shareOf(lateMs, 0.5),
    lateP99Ms: shareOf(lateMs, 0.99),
    cpuMsPerRead: cpuMs / readsMade,
    memoryMb: after.memoryMb,
    foreignCpuMs: Math.max(0, after.machine - before.machine - cpuMs - ownCpuMs),
    spinMs: [spinBefore, spinAfter],
  };
}

/** What a way used so far. */
export function usedBy(open: OpenWay): Used {
  const used = open.pids().map(usedByTree);
  const sum = (of: (it: Used) => number) => used.reduce((total, it) => total + of(it), 0);
  return { cpuMs: sum((it) => it.cpuMs), memoryMb: sum((it) => it.memoryMb) };
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / US_PER_MS;
}

/** Milliseconds of CPU time for always the same work: more of it means a slower machine. */
function spin(): number {
  const before = process.cpuUsage();
  let sum = 0;
  for (let round = 0; round < SPIN_ROUNDS; round += 1) sum = (sum + round * round) % 1_000_003;
  const { user } = process.cpuUsage(before);
  return sum < 0 ? NaN : user / US_PER_MS;
}

interface Window {
  fromMs: number;
  toMs: number;
}

function readsOf({ journal }: Service, sites: readonly string[], { fromMs, toMs }: Window) {
  const own = new Map(sites.map((site) => [`GET /v1/sites/${site}/deployments/latest`, site]));
  return journal.flatMap(({ request, at }) => {
    const [site, atMs] = [own.get(request), Date.parse(at)];
    return site === undefined || atMs < fromMs || atMs >= toMs ? [] : [{ site, atMs }];
  });
}

function lateness(service: Service, sites: readonly string[], window: Window & { intervalMs: number }): number[] {
  const last = new Map<string, number>();
  const late = readsOf(service, sites, window).flatMap(({ site, atMs }) => {
    const beforeMs = last.get(site);
    last.set(site, atMs);
    return beforeMs === undefined ? [] : [Math.max(0, atMs - beforeMs - window.intervalMs)];
  });
  return late.sort((a, b) => a - b);
}

const slug = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
