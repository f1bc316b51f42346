/** `belay` as others start it: a process of the built program. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RunResult } from '../../src/contract/run.ts';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The one document on stdout. Throws when it is none. */
  json: () => RunResult;
}

export interface Started {
  process: ChildProcess;
  output: { stdout: string; stderr: string };
  finished: Promise<Finished>;
}

/** Nothing of the environment of the tests but what programs need. */
function environment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'XDG_CACHE_HOME', 'GOFLAGS', 'GOPROXY'];
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), ...extra };
}

export function start(args: string[], env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, [CLI, ...args], { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data: Buffer) => void (output.stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => void (output.stderr += data.toString()));
  const finished = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    ...output,
    json: () => JSON.parse(output.stdout) as RunResult,
  }));
  atEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      // One that a test stopped, and then failed, hears nothing else.
      child.kill('SIGCONT');
    }
    await finished;
  });
  return { process: child, output, finished };
}

export const run = (args: string[], env: Record<string, string> = {}): Promise<Finished> => start(args, env).finished;

/** `belay worker`, once it polls. */
export async function startWorkerProcess(env: Record<string, string>): Promise<Started> {
  const started = start(['worker'], env);
  const failed = started.finished.then(({ code, stderr }) =>
    Promise.reject(new Error(`belay worker ended with ${code}: ${stderr}`)),
  );
  failed.catch(() => undefined);
  await Promise.race([eventually('a worker', () => started.output.stderr.includes('polling')), failed]);
  return started;
}

/** `belay webhooks` on a free port, once it listens. */
export async function startWebhooks(env: Record<string, string>): Promise<Started & { line: string; url: string }> {
  const started = start(['webhooks', '--port', '0'], env);
  const line = await eventually('the receiver', () => /^.*"listening".*$/m.exec(started.output.stderr)?.[0]);
  return { ...started, line, url: (JSON.parse(line) as { url: string }).url };
}

export interface Dev extends Started {
  ready: { temporal: string; ui: string; webhooks: string | null; service: string };
}

/** `belay dev` on free ports, once it is ready. */
export async function startDev(env: Record<string, string>, ...args: string[]): Promise<Dev> {
  const started = start(['dev', '--json', '--temporal-port', '0', '--ui-port', '0', ...args], env);
  const lines = createInterface({ input: started.process.stdout! });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    started.finished.then(({ code, stderr }) => Promise.reject(new Error(`belay dev ended with ${code}: ${stderr}`))),
  ])) as [string];
  return { ...started, ready: JSON.parse(line) as Dev['ready'] };
}

/** The ids of a process's descendants, from Linux's /proc. */
export function descendants(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const);
  const children = parents.filter(([, parent]) => parent === pid).map(([child]) => child);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

export function isAlive(pid: number): boolean {
  try {
    // A process that ended and was not waited for is dead, too.
    return stateOf(pid) !== 'Z';
  } catch {
    return false;
  }
}

const statOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
const stateOf = (pid: number) => statOf(pid)[0];

function parentOf(pid: number): number {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return 0;
  }
}
