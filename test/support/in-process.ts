/**
 * Runs a command of `belay` in this process, from source, and saves the second of CPU time that a process costs.
 * Commands run one after another, because the environment and the exit code are those of the process.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunResult } from '../../src/contract/run.ts';
import { executeCommand } from '../../src/cli/program.ts';
import { environment, type Finished, type Started } from './processes.ts';

interface Output {
  stdout: string;
  stderr: string;
}

const current = new AsyncLocalStorage<Output>();

for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  // Meanwhile the test reporter writes to the same stream.
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    const output = current.getStore();
    if (output === undefined) return write(chunk, ...rest);
    output[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(done as () => void);
    return true;
  };
}

let last: Promise<unknown> = Promise.resolve();

export const runInProcess = (args: string[], env: Record<string, string> = {}): Promise<Finished> =>
  startInProcess(args, env).finished;

/** The same, with what it has printed so far. */
export function startInProcess(args: string[], env: Record<string, string> = {}): Pick<Started, 'output' | 'finished'> {
  const output: Output = { stdout: '', stderr: '' };
  const finished = last.then(() => runAlone(args, env, output));
  last = finished.catch(() => undefined);
  return { output, finished };
}

async function runAlone(args: string[], env: Record<string, string>, output: Output): Promise<Finished> {
  const [own, exitCode] = [process.env, process.exitCode];
  process.env = environment(env);
  process.exitCode = undefined;
  try {
    const code = await current.run(output, () => executeCommand(args));
    return { code, ...output, json: () => JSON.parse(output.stdout) as RunResult };
  } finally {
    process.env = own;
    process.exitCode = exitCode;
  }
}
