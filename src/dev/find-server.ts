/** The Temporal server program: the one on the PATH, else the SDK's own download, else one built once with Go. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../config/environment/environment.ts';
import { buildWithGo, pinnedVersion, type BuildProgress } from './build-server.ts';

const OLDEST_SERVER = [1, 29, 1] as const;

export interface ExecutableDeps {
  cacheFolder: string;
  env: NodeJS.ProcessEnv;
  /** Says what goes on: for people. */
  say: (line: string) => void;
  onBuild: (progress: BuildProgress) => void;
  /** The SDK's own cached download. @returns the path; rejects where the download can't be had */
  download: (folder: string) => Promise<string>;
}

/** @throws ConfigError that names the three ways and what each of them said */
export async function findExecutable(deps: ExecutableDeps): Promise<string> {
  const tried: string[] = [];
  for (const [name, way] of Object.entries({ 'on the PATH': onPath, download: downloaded, 'Go build': built })) {
    try {
      return await way(deps);
    } catch (error) {
      tried.push(`  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new ConfigError(
    ['no Temporal server can be had here. Install the Temporal CLI, or Go, and try again. Tried:', ...tried].join('\n'),
  );
}

async function onPath({ env, say }: ExecutableDeps): Promise<string> {
  const { stdout } = await promisify(execFile)('temporal', ['--version'], { env, timeout: 10_000 }).catch(() => {
    throw new Error('no program named temporal');
  });
  const version = /Server (\d+)\.(\d+)\.(\d+)/.exec(stdout)?.slice(1).map(Number);
  if (version === undefined || isOlder(version, OLDEST_SERVER)) {
    const problem = `its server is older than ${OLDEST_SERVER.join('.')}, or not known: ${stdout.trim()}`;
    say(`The program temporal on the PATH is passed over: ${problem}.`);
    throw new Error(problem);
  }
  return 'temporal';
}

async function downloaded({ cacheFolder, download }: ExecutableDeps): Promise<string> {
  return download(cacheFolder);
}

async function built({ cacheFolder, env, say, onBuild }: ExecutableDeps): Promise<string> {
  const path = join(cacheFolder, `temporal-${await pinnedVersion()}-${process.platform}-${process.arch}`);
  if (await isExecutable(path)) return path;
  await promisify(execFile)('go', ['version'], { env }).catch(() => {
    throw new Error('no program named go');
  });
  say('No Temporal server on this machine yet: building one with Go. Once only, about 4 minutes on 2 cores;');
  say(`it takes 210 MB in ${cacheFolder}, and 3 GB in Go's own caches (go clean -cache -modcache frees them).`);
  const startedMs = Date.now();
  const bytes = await buildWithGo(path, env, onBuild);
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
