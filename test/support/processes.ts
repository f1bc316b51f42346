/** Runs `belay` as a process: the built program, or that of the source, if the build is older. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RunResult } from '../../src/contract/run.ts';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';
import { commandOf, descendants } from './process-tree.ts';
import { isDistCurrent } from '../../tools/dist-stamp.ts';

const PROGRAM = isDistCurrent() ? '../../dist/cli.js' : './cli-from-source.js';
/** Of a test of what users install. `npm test` builds first. */
export const WITH_BUILD: { skip?: string } = isDistCurrent()
  ? {}
  : { skip: 'dist/ is older than src/: run npm run build' };
export const CLI = fileURLToPath(new URL(PROGRAM, import.meta.url));

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
  /** The only document on stdout. Throws if it is not JSON. */
  json: () => RunResult;
}

export interface Started {
  process: ChildProcess;
  output: { stdout: string; stderr: string };
  finished: Promise<Finished>;
}

const STOP_LIMIT_MS = 60_000;

/** Only the part of the tests' environment that programs need. */
export function environment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'XDG_CACHE_HOME', 'GOFLAGS', 'GOPROXY'];
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), ...extra };
}

/** @param program that of another build */
export function start(args: string[], env: Record<string, string> = {}, program = CLI): Started {
  const child = spawn(process.execPath, [program, ...args], {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
      // A process that a failed test left stopped reacts to SIGKILL only.
      child.kill('SIGCONT');
    }
    const limit = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await finished.finally(() => clearTimeout(limit));
  });
  return { process: child, output, finished };
}

export const run = (args: string[], env: Record<string, string> = {}): Promise<Finished> => start(args, env).finished;

/** Starts `belay worker` and waits until it polls. */
export async function startWorkerProcess(env: Record<string, string>): Promise<Started> {
  const started = start(['worker'], env);
  const failed = started.finished.then(({ code, stderr }) =>
    Promise.reject(new Error(`belay worker ended with ${code}: ${stderr}`)),
  );
  failed.catch(() => undefined);
  await Promise.race([eventually('a worker', () => started.output.stderr.includes('"polling"')), failed]);
  return started;
}

/** Starts `belay webhooks` on a free port and waits until it listens. */
export async function startWebhooks(
  env: Record<string, string>,
  ...args: string[]
): Promise<Started & { line: string; url: string }> {
  const started = start(['webhooks', '--port', '0', ...args], env);
  const line = await eventually('the receiver', () => /^.*"listening".*$/m.exec(started.output.stderr)?.[0]);
  return { ...started, line, url: (JSON.parse(line) as { url: string }).url };
}

export interface Dev extends Started {
  ready: { temporal: string; ui: string; webhooks: string | null; board: string; service: string };
}

/** Starts `belay dev` on free ports and waits until it is ready. */
export const startDev = (env: Record<string, string>, ...args: string[]): Promise<Dev> => startDevOf(CLI, env, ...args);

/** The same with the program of another build. */
export async function startDevOf(program: string, env: Record<string, string>, ...args: string[]): Promise<Dev> {
  const started = start(['dev', '--json', '--temporal-port', '0', '--ui-port', '0', ...args], env, program);
  const lines = createInterface({ input: started.process.stdout! });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    started.finished.then(({ code, stderr }) => Promise.reject(new Error(`belay dev ended with ${code}: ${stderr}`))),
  ])) as [string];
  return { ...started, ready: JSON.parse(line) as Dev['ready'] };
}

/** The processes that dev started, the Temporal server among them. */
export function treeOf(dev: Dev): number[] {
  const tree = descendants(dev.process.pid ?? 0);
  assert.ok(
    tree.some((pid) => commandOf(pid).includes('start-dev')),
    'there is a Temporal server',
  );
  return tree;
}
