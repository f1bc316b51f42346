/** Runs Quint, which is a package of docs/spec only. The simulator in TypeScript needs no download. */
import { execFile, execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Replay } from './replays.ts';
import type { Simulation } from './simulations.ts';

export const SPEC = fileURLToPath(new URL('../../docs/spec/', import.meta.url));
const SEED = '1';

export interface Simulated {
  violated: readonly string[];
  /** How many traces reached each situation. */
  reached: ReadonlyMap<string, number>;
}

export function installQuint(): void {
  const changedMs = (name: string) => statSync(join(SPEC, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedMs('node_modules/.package-lock.json') > changedMs('package-lock.json')) return;
  execFileSync('npm', ['ci', '--silent', '--ignore-scripts'], { cwd: SPEC, stdio: 'inherit' });
}

/** @returns null if the module has the right types, else the errors */
export async function typeErrors(path: string): Promise<string | null> {
  const { isOk, output } = await quint(['typecheck', path]);
  return isOk ? null : output;
}

/** @throws Error if the simulation itself fails */
export async function simulate(path: string, simulation: Simulation, traces: number): Promise<Simulated> {
  const { main, step, steps, invariants, situations } = simulation;
  const options = { main, step, backend: 'typescript', seed: SEED, 'max-samples': traces, 'max-steps': steps };
  const { isOk, output } = await quint([
    ...['run', path, '--verbosity', '2'],
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...['--invariants', ...invariants],
    ...(situations.length === 0 ? [] : ['--witnesses', ...situations]),
  ]);
  const named = [...output.matchAll(/❌ (\w+)/g)].map(([, name = '']) => name);
  // Quint does not name the violated invariant if it checks only one.
  const violated = output.includes('[violation]') && named.length === 0 ? invariants : named;
  if (!isOk && violated.length === 0) throw new Error(`quint failed for ${main}: ${output.slice(-2_000)}`);
  const reached = [...output.matchAll(/^(\w+) was witnessed in (\d+) trace/gm)];
  return { violated, reached: new Map(reached.map(([, name = '', count]) => [name, Number(count)])) };
}

/** Writes traces, with the action that led to each state, to a folder. @throws Error if Quint fails */
export async function drawTraces({ file, main, steps, traces }: Replay, folder: string): Promise<void> {
  const out = join(folder, '{seq}.itf.json');
  const options = { main, step: 'replayed', backend: 'typescript', seed: SEED, 'max-steps': steps };
  const counts = { 'max-samples': traces, 'n-traces': traces, 'out-itf': out, verbosity: 1 };
  const { isOk, output } = await quint([
    ...['run', join(SPEC, file), '--mbt'],
    ...Object.entries({ ...options, ...counts }).flatMap(([name, value]) => [`--${name}`, String(value)]),
  ]);
  if (!isOk) throw new Error(`quint drew no traces of ${main}: ${output.slice(-2_000)}`);
}

async function quint(args: readonly string[]): Promise<{ isOk: boolean; output: string }> {
  const program = join(SPEC, 'node_modules/@informalsystems/quint/dist/src/cli.js');
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ isOk: error === null, output: `${stdout}${stderr}` }),
    );
  });
}
