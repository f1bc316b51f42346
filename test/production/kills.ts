/** Kills the workers in turn, each time while a request is in progress. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Controls } from '../../src/sandbox/controls.ts';
import type { Done } from '../model/record.ts';
import type { SupervisedWorker } from '../model/workers.ts';

const EVERY_MS = 20_000;
const FOR_MS = 180_000;
const DOWN_MS = 1_000;
/** After this, it kills although no request arrived. */
const PATIENCE_MS = 5_000;
const LOOK_MS = 10;

/** @returns once the last one polls again */
export async function killInTurn(
  workers: readonly SupervisedWorker[],
  sandbox: Pick<Controls, 'journal'>,
  say: (line: string) => void,
): Promise<Done[]> {
  const beganMs = Date.now();
  const kills: Done[] = [];
  for (let atMs = EVERY_MS; atMs <= FOR_MS; atMs += EVERY_MS) {
    await sleep(beganMs + atMs - Date.now());
    await nextPost(sandbox);
    const worker = workers[kills.length % workers.length]!;
    const fromMs = Date.now();
    await worker.down('SIGKILL', DOWN_MS);
    await worker.ready();
    kills.push({ what: 'SIGKILL worker', forMs: DOWN_MS, fromMs, toMs: Date.now() });
    say(`killed a worker ${kills.length} times, it polls again after ${Date.now() - fromMs} ms`);
  }
  return kills;
}

async function nextPost({ journal }: Pick<Controls, 'journal'>): Promise<void> {
  const known = journal.length;
  const lateMs = Date.now() + PATIENCE_MS;
  while (Date.now() < lateMs && !journal.slice(known).some(({ request }) => request.startsWith('POST '))) {
    await sleep(LOOK_MS);
  }
}
