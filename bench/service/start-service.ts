/** Starts the service of the benchmark, and controls it. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../test/support/at-end.ts';
import { environment } from '../../test/support/processes.ts';
import type { Read } from '../statistics/lateness.ts';
import type { Arrivals, Counts } from './operations.ts';
import type { Ask } from './program.ts';

export interface StatusRead extends Read {
  isFinal: boolean;
}

export interface Arrived {
  posts: Read[];
  reads: StatusRead[];
}

export interface Service {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  counts(): Promise<Counts>;
  /** What arrived since the last call. */
  take(): Promise<Arrived>;
  /** How long operations take that begin from now on. Until then, they go on until they are ended. */
  setDuration(ms: number): Promise<void>;
  /** Ends every operation that has begun, with this status. */
  endAll(word: string): Promise<void>;
}

const TOKEN = 'bench-5f0c2b7e9d';

type Message = { port: number } | { id: number; value: unknown };

export async function startService(): Promise<Service> {
  const child = fork(fileURLToPath(new URL('./program.ts', import.meta.url)), {
    env: environment({ SERVICE_TOKEN: TOKEN }),
    serialization: 'advanced',
  });
  atEnd(async () => void child.kill('SIGKILL'));
  const asked = new Map<number, (value: unknown) => void>();
  let last = 0;
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
    child.on('message', (message: Message) => {
      if ('port' in message) return resolve(message.port);
      asked.get(message.id)?.(message.value);
      asked.delete(message.id);
    });
  });
  const ask = <T>(question: Ask): Promise<T> =>
    new Promise((resolve) => {
      const id = (last += 1);
      asked.set(id, resolve as (value: unknown) => void);
      child.send({ id, ask: question });
    });
  return {
    url: `http://127.0.0.1:${port}`,
    token: TOKEN,
    pid: child.pid!,
    counts: () => ask<Counts>({ counts: true }),
    take: async () => arrivedIn(await ask<Arrivals>({ take: true })),
    setDuration: (ms) => ask({ setDuration: ms }),
    endAll: (word) => ask({ endAll: word }),
  };
}

function arrivedIn({ targets, posts, reads }: Arrivals): Arrived {
  const read = (target: number, atMs: number): Read => ({ site: targets[target]!, atMs });
  return {
    posts: posts.target.map((target, index) => read(target, posts.atMs[index]!)),
    reads: reads.target.map((target, index) => ({
      ...read(target, reads.atMs[index]!),
      isFinal: reads.isFinal[index]!,
    })),
  };
}
