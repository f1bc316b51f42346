/** Finds the Temporal server: on the PATH, else the SDK's download, else one built once with Go. */
import { execFile } from 'node:child_process';
import { access, constants, rm, readdir, chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { ConfigError } from '../config/environment/variables.ts';
import { buildWithGo, pinnedVersion, type BuildProgress } from './build-server.ts';
import { messageOf } from '../contract/safe-text.ts';
import { succeeds } from '../contract/plain-object.ts';

const OLDEST_SERVER = [1, 29, 1] as const;

export interface ExecutableDeps {
  cacheFolder: string;
  env: NodeJS.ProcessEnv;
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

/** Returns why not to use the program: it is too old, or absent. */
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
  if ((await succeeds(access(path, constants.X_OK))) && (await isIntact(path, wasPrivate))) return path;
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

function isOlder(version: readonly number[], than: readonly number[]): boolean {
  const differs = than.findIndex((part, index) => version[index] !== part);
  return differs >= 0 && (version[differs] ?? 0) < (than[differs] ?? 0);
}

const PREFIX = 'temporal-cli-';

/** @returns the program's path; rejects if the download host is unreachable */
export async function downloadBySdk(folder: string): Promise<string> {
  const cached = await cachedIn(folder);
  if (cached !== null) return cached;
  // Imported only when needed: once per machine.
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir: folder } },
  }).catch(() => {
    throw new Error('the download host is unreachable');
  });
  await environment.teardown();
  const path = await cachedIn(folder);
  if (path === null) throw new Error(`the SDK downloaded nothing named ${PREFIX}* to ${folder}`);
  return path;
}

async function cachedIn(folder: string): Promise<string | null> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((it) => it.startsWith(PREFIX) && !/\.(downloading|sha256\S*)$/.test(it));
  return name === undefined ? null : join(folder, name);
}

/*
 * Caches programs that Belay downloads or builds. Only this user can write to the folder, and each program has its
 * digest.
 */

/**
 * Creates the folder, or takes access away from other users.
 *
 * @returns whether only this user could write to it before
 * @throws ConfigError if it belongs to another user
 */
export async function makePrivate(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await stat(folder);
  if (uid !== (process.getuid?.() ?? uid)) {
    throw new ConfigError(`${folder} belongs to another user: set XDG_CACHE_HOME to a folder of your own`);
  }
  if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
  return (mode & 0o022) === 0;
}

const digestFile = (program: string) => `${program}.sha256`;

/** Call this once the program is complete. */
async function recordDigest(program: string): Promise<void> {
  const draft = `${digestFile(program)}.${process.pid}`;
  await writeFile(draft, `${await digestOf(program)}\n`, { mode: 0o600 });
  await rename(draft, digestFile(program));
}

/** True if the program is the one whose digest was recorded. @param trusted whether a program without a digest counts */
async function isIntact(program: string, trusted: boolean): Promise<boolean> {
  const recorded = await readFile(digestFile(program), 'utf8').catch(() => null);
  const digest = await digestOf(program).catch(() => null);
  if (digest === null) return false;
  if (recorded !== null) return recorded.trim() === digest;
  if (trusted) await recordDigest(program);
  return trusted;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
