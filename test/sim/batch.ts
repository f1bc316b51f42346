/** Plays a batch of seeds on all cores, with a process for each, and watches over these processes. */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { notMet } from './checks/situations.ts';

export interface Batch {
  from: number;
  /** Infinity: until it is stopped. */
  seeds: number;
  codePath: string;
  /** For each process. */
  flags: readonly string[];
}

/** What a process sends. */
export type Message =
  { kind: 'begins'; seed: number } | { kind: 'alive' } | { kind: 'played'; findings: string[]; situations: string[] };

/** How often a process shows that it still plays. */
export const ALIVE_MS = 5_000;
/** The workflow code of a process that is silent for longer loops without waiting. */
const SILENT_MS = 120_000;

/** A batch of this size meets every situation, or the draws have become too tame. */
const MEETS_EVERYTHING = 5_000;

export const print = (text: string) => void process.stdout.write(`${text}\n`);

/** @returns how much is wrong */
export async function playBatch({ from, seeds, codePath, flags }: Batch): Promise<number> {
  const beganMs = performance.now();
  const cores = Math.min(availableParallelism(), seeds);
  const met = new Set<string>();
  let [played, found] = [0, 0];

  /** @returns the exit code of the last process for this part */
  function playPart(first: number): Promise<number> {
    const part = ['--from', String(first), '--step', String(cores), '--bundle', codePath];
    if (seeds !== Infinity) part.push('--seeds', String(Math.max(0, from + seeds - first)));
    const child = fork(fileURLToPath(new URL('run.ts', import.meta.url)), [...part, ...flags]);
    let seed = first;
    let isSilent = false;
    const report = (finding: string) => {
      found += 1;
      print(`seed ${seed}: ${finding}`);
    };
    const watchdog = setTimeout(() => {
      isSilent = true;
      report(`no sign of life for ${SILENT_MS / 1_000} s: workflow code loops without waiting`);
      child.kill('SIGKILL');
    }, SILENT_MS);
    child.on('message', (message: Message) => {
      watchdog.refresh();
      if (message.kind === 'begins') seed = message.seed;
      if (message.kind !== 'played') return;
      played += 1;
      for (const situation of message.situations) met.add(situation);
      for (const finding of message.findings) report(finding);
    });
    return new Promise((resolve) =>
      child.once('exit', (code) => {
        clearTimeout(watchdog);
        const next = seed + cores;
        if (isSilent && next < from + seeds) void playPart(next).then(resolve);
        else resolve(isSilent ? 0 : (code ?? 1));
      }),
    );
  }

  const codes = await Promise.all(Array.from({ length: cores }, (_, index) => playPart(from + index)));
  const broken = codes.filter((code) => code !== 0).length;
  if (broken > 0) print(`${broken} processes ended with an error`);
  const missed = notMet(met);
  if (missed.length > 0) print(`${missed.length} situations not met: ${missed.join('; ')}`);
  print(`${played} seeds, ${found} findings, ${Math.round((performance.now() - beganMs) / 1_000)} s`);
  return found + broken + (played < MEETS_EVERYTHING ? 0 : missed.length);
}
