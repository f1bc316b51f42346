/** What processes used so far, from Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { descendants, statOf } from '../test/support/process-tree.ts';

/** The kernel counts CPU time in these. */
const TICK_MS = 10;

/** Milliseconds of CPU time of a process or thread. */
export function cpuOf(folder: string): number {
  const fields = statOf(folder);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export interface Used {
  cpuMs: number;
  memoryMb: number;
}

/**
 * By a process and all that it started: CPU time also of those that have ended, and resident memory, of which pages
 * that they share count once.
 * @param apart processes that are measured by themselves
 */
export function usedByTree(pid: number, apart: readonly number[] = []): Used {
  const used: Used = { cpuMs: 0, memoryMb: 0 };
  for (const it of [pid, ...descendants(pid, apart)]) {
    try {
      const fields = statOf(`/proc/${it}`);
      used.cpuMs += [11, 12, 13, 14].reduce((ticks, index) => ticks + Number(fields[index]), 0) * TICK_MS;
      used.memoryMb += kbOf('Pss', `/proc/${it}/smaps_rollup`) / 1_024 || 0;
    } catch {
      // It has ended meanwhile, and its time is counted with its parent's.
    }
  }
  return used;
}

/** The threads of a process that run JavaScript, without the main one. */
export function workerThreadsMs(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const threads = readdirSync(folder).filter((tid) => tid !== String(pid));
  const msOf = (tid: string) => {
    try {
      return readFileSync(`${folder}/${tid}/comm`, 'utf8').trim() === 'node' ? cpuOf(`${folder}/${tid}`) : 0;
    } catch {
      // A thread may have ended since.
      return 0;
    }
  };
  return threads.reduce((sum, tid) => sum + msOf(tid), 0);
}

export function memoryMb(pid: number): number {
  return kbOf('VmRSS', `/proc/${pid}/status`) / 1_024;
}

const kbOf = (field: string, file: string) =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);

/** Of the whole machine. */
export function machineBusyMs(): number {
  const [, user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]!
    .split(/\s+/);
  return [user, nice, system, irq, softirq, steal].reduce((sum, it) => sum + Number(it), 0) * TICK_MS;
}
