/** What processes use, and what arrives at the service, during some time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { machineBusyMs, usedByTree, type Used } from '../processes.ts';
import type { Service, StatusRead } from '../service/start-service.ts';
import { spin } from './spin.ts';

const US_PER_MS = 1_000;

/** Processes by name, each with those that it started and that have no name here. */
export type Measured = Record<string, readonly number[]>;

export interface Window {
  fromMs: number;
  toMs: number;
  reads: StatusRead[];
  /** CPU time of the processes, the service, and the threads that were asked for. */
  cpuMs: Record<string, number>;
  /** Resident memory at the end. */
  memoryMb: Record<string, number>;
  /** CPU time of this process, which controls the others. */
  ownCpuMs: number;
  /** CPU time of the machine, besides all these. */
  foreignCpuMs: number;
  /** A fixed piece of work, before and after. */
  spinMs: readonly [before: number, after: number];
}

/** @param threads CPU time so far of parts of the processes */
export async function measureWindow(
  service: Service,
  processes: Measured,
  lengthMs: number,
  threads: Record<string, () => number> = {},
): Promise<Window> {
  const all: Measured = { ...processes, service: [service.pid] };
  const spinBefore = spin();
  await service.take();
  const [before, fromMs] = [mark(all, threads), Date.now()];
  await sleep(lengthMs);
  const [after, toMs] = [mark(all, threads), Date.now()];
  const { reads } = await service.take();
  const since = (name: string) => after.cpuMs[name]! - before.cpuMs[name]!;
  const ownCpuMs = after.ownMs - before.ownMs;
  const known = Object.keys(all).reduce((sum, name) => sum + since(name), ownCpuMs);
  return {
    ...{ fromMs, toMs, ownCpuMs },
    reads: reads.filter(({ atMs }) => atMs >= fromMs && atMs < toMs),
    cpuMs: Object.fromEntries(Object.keys(after.cpuMs).map((name) => [name, since(name)])),
    memoryMb: after.memoryMb,
    foreignCpuMs: Math.max(0, after.machineMs - before.machineMs - known),
    spinMs: [spinBefore, spin()],
  };
}

interface Mark {
  cpuMs: Record<string, number>;
  memoryMb: Record<string, number>;
  ownMs: number;
  machineMs: number;
}

function mark(processes: Measured, threads: Record<string, () => number>): Mark {
  const apart = Object.values(processes).flat();
  const used = Object.entries(processes).map(([name, pids]) => [name, usedBy(pids, apart)] as const);
  const { user, system } = process.cpuUsage();
  return {
    cpuMs: {
      ...Object.fromEntries(used.map(([name, { cpuMs }]) => [name, cpuMs])),
      ...Object.fromEntries(Object.entries(threads).map(([name, ofThreads]) => [name, ofThreads()])),
    },
    memoryMb: Object.fromEntries(used.map(([name, { memoryMb }]) => [name, memoryMb])),
    ownMs: (user + system) / US_PER_MS,
    machineMs: machineBusyMs(),
  };
}

/** By these processes and those that they started. */
export function usedBy(pids: readonly number[], apart: readonly number[] = []): Used {
  const used = pids.map((pid) => usedByTree(pid, apart));
  const sum = (of: (it: Used) => number) => used.reduce((total, it) => total + of(it), 0);
  return { cpuMs: sum((it) => it.cpuMs), memoryMb: sum((it) => it.memoryMb) };
}
