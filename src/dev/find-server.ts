/** Finds the Temporal server: on the PATH, else the SDK's download, else one built once with Go. */
import { execFile } from 'node:child_process';
import { access, constants, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../config/environment/config-error.ts';
import { isIntact, makePrivate, recordDigest } from './private-cache.ts';
import { buildWithGo, pinnedVersion, type BuildProgress } from './build-server.ts';
import { messageOf } from '../contract/message-of.ts';

const OLDEST_SERVER = [1, 29, 1] as const;

export interface ExecutableDeps {
  cacheFolder: string;
  env: NodeJS.ProcessEnv;
  /** Prints progress for people. */
  say: (line: string) => void;
  onBuild: (progress: BuildProgress) => void;
  /** The SDK's cached download. @returns the path; rejects if it cannot be downloaded */
  download: (folder: string) => Promise<string>;
}

/** @throws ConfigError with the error of each of the three ways */
export async function findExecutable(deps: ExecutableDeps): Promise<string> {
  const tried: string[] = [];
  for (const [name, way] of Object.entries({ 'on the PATH': onPath, download: downloaded, 'Go build': built })) {
    try {
      return await way(deps);
    } catch (error) {
      tried.push(`  ${name}: ${messageOf(error)}`);
    }
  }
  throw new ConfigError(
    ['no Temporal server found. Install the Temporal CLI or Go, and retry. Tried:', ...tried].join('\n'),
  );
}

async function onPath({ env, say }: ExecutableDeps): Promise<string> {
  const problem = await problemOf('temporal', env);
  if (problem === 'absent') throw new Error('no program named temporal on the PATH');
  if (problem === null) return 'temporal';
  say(`Skipping the temporal program on the PATH: ${problem}.`);
  throw new Error(problem);
}

async function downloaded({ cacheFolder, env, download }: ExecutableDeps): Promise<string> {
  const wasPrivate = await makePrivate(cacheFolder);
  let path = await download(cacheFolder);
  if (!(await isIntact(path, wasPrivate))) {
    await rm(path, { force: true });
    path = await download(cacheFolder);
    await recordDigest(path);
  }
  const problem = await problemOf(path, env);
  if (problem !== null) throw new Error(problem === 'absent' ? `${path} does not run` : problem);
  return path;
}

/** Why not to use the program: it is too old, or absent. */
async function problemOf(program: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const run = promisify(execFile)(program, ['--version'], { env, timeout: 10_000 });
  const stdout = await run.then((it) => it.stdout).catch(() => null);
  if (stdout === null) return 'absent';
  const version = /Server (\d+)\.(\d+)\.(\d+)/.exec(stdout)?.slice(1).map(Number);
  if (version !== undefined && !isOlder(version, OLDEST_SERVER)) return null;
  return `needs server ${OLDEST_SERVER.join('.')} or newer, found: ${stdout.trim()}`;
}

async function built({ cacheFolder, env, say, onBuild }: ExecutableDeps): Promise<string> {
  const path = join(cacheFolder, `temporal-${await pinnedVersion()}-${process.platform}-${process.arch}`);
  const wasPrivate = await makePrivate(cacheFolder);
  if ((await isExecutable(path)) && (await isIntact(path, wasPrivate))) return path;
  await promisify(execFile)('go', ['version'], { env }).catch(() => {
    throw new Error('no program named go on the PATH');
  });
  say('No Temporal server found. Building one with Go, once: about 4 minutes on 2 cores.');
  say(`It needs 210 MB in ${cacheFolder} and 3 GB in Go's caches, which go clean -cache -modcache frees.`);
  const startedMs = Date.now();
  const bytes = await buildWithGo(path, env, onBuild);
  await recordDigest(path);
  const took = `${Math.round((Date.now() - startedMs) / 1000)} s, ${Math.round(bytes / 1e6)} MB`;
  say(`Built in ${took}: ${path}`);
  return path;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function isOlder(version: readonly number[], than: readonly number[]): boolean {
  const differs = than.findIndex((part, index) => version[index] !== part);
  return differs >= 0 && (version[differs] ?? 0) < (than[differs] ?? 0);
}
