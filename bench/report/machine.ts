/** Where, and with which versions, something was measured. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { childEnvironment } from '../../src/config/environment/environment.ts';
import { temporalExecutable } from '../../test/support/temporal.ts';

const run = promisify(execFile);
const MB = 1_024 * 1_024;
const ROOT = new URL('../../', import.meta.url);

export interface Machine {
  cpus: number;
  model: string | null;
  memoryMb: number;
  kernel: string;
}

export const machine = (): Machine => ({
  cpus: cpus().length,
  model: cpus()[0]?.model ?? null,
  memoryMb: Math.round(totalmem() / MB),
  kernel: `${platform()} ${release()} ${arch()}`,
});

/** Of the last minute. */
export const load = (): number => loadavg()[0]!;

export interface Versions {
  belay: string;
  commit: string | null;
  node: string;
  temporalSdk: string;
  temporalServer: string | null;
}

export async function versions(): Promise<Versions> {
  return {
    belay: versionIn('package.json'),
    commit: await commitIn(ROOT),
    node: process.version,
    temporalSdk: versionIn('node_modules/@temporalio/worker/package.json'),
    temporalServer: await said(await temporalExecutable(), ['--version']),
  };
}

/** @param path of a package's description, from the root of the repository */
export const versionIn = (path: string): string =>
  (JSON.parse(readFileSync(new URL(path, ROOT), 'utf8')) as { version: string }).version;

/** @returns null outside of a repository. A `+` follows it if files differ from it */
export async function commitIn(checkout: string | URL): Promise<string | null> {
  const id = await said('git', ['rev-parse', '--short=12', 'HEAD'], checkout);
  if (id === null) return null;
  return (await said('git', ['status', '--porcelain', '--untracked-files=no'], checkout)) === '' ? id : `${id}+`;
}

const said = (program: string, args: string[], folder: string | URL = ROOT): Promise<string | null> =>
  run(program, args, { cwd: folder, env: childEnvironment() }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
