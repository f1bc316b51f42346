/** The processes that a process started, from Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually.ts';

/** The ids of a process's descendants. @param apart are left out, with those that they started */
export function descendants(pid: number, apart: readonly number[] = []): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const);
  const children = parents
    .filter(([child, parent]) => parent === pid && !apart.includes(child))
    .map(([child]) => child);
  return children.flatMap((child) => [child, ...descendants(child, apart)]);
}

function isAlive(pid: number): boolean {
  try {
    // A process that ended and was not reaped is dead.
    return stateOf(pid) !== 'Z';
  } catch {
    return false;
  }
}

export const gone = (pids: number[]): Promise<boolean> =>
  eventually('the end of all processes', () => pids.every((pid) => !isAlive(pid)));

/** The fields of a process or thread after its name. @param folder such as `/proc/17` */
export const statOf = (folder: string) =>
  readFileSync(`${folder}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
const stateOf = (pid: number) => statOf(`/proc/${pid}`)[0];

/** Whether SIGSTOP has reached every thread. */
export const isStopped = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => statOf(`/proc/${pid}/task/${thread}`)[0] === 'T');

function parentOf(pid: number): number {
  try {
    return Number(statOf(`/proc/${pid}`)[1]);
  } catch {
    return 0;
  }
}

/** Ends a process's descendants, whatever state they are in. Does nothing where there is no /proc. */
export function killDescendants(pid: number): void {
  if (process.platform !== 'linux') return;
  for (const descendant of descendants(pid)) {
    try {
      process.kill(descendant, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

export const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
