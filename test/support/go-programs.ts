/** Programs built from a Go module that a folder of tools/ pins, and cached. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { buildEnvironment, cacheFolder } from '../../src/config/environment/environment.ts';
import { makePrivate } from '../../src/dev/find-server.ts';
import { inRepository } from './compose.ts';
import { MissingProgram } from './missing-program.ts';

const run = promisify(execFile);

export interface PinnedModule {
  module: string;
  /** In the repository; holds go.mod. */
  folder: string;
  /** Name of each program, and its package in the module. */
  programs: Record<string, string>;
  /** Additional flags of `go build`. */
  flags?: readonly string[];
}

export interface GoPrograms {
  version: string;
  /** Holds the programs. */
  folder: string;
  /** Where Go keeps the module's source. */
  sourceFolder: string;
}

/** The version in go.mod, such as `1.32.0`. */
export function pinnedVersion({ module, folder }: PinnedModule): string {
  const words = readFileSync(inRepository(`${folder}/go.mod`), 'utf8').split(/\s+/);
  const version = words[words.indexOf(module, words.indexOf('require')) + 1];
  if (version?.startsWith('v') !== true) throw new Error(`${folder}/go.mod does not require ${module}`);
  return version.slice(1);
}

/** @param announce prints that it builds. @throws MissingProgram without Go, or with one that is too old */
export async function goPrograms(pinned: PinnedModule, announce: (version: string) => void): Promise<GoPrograms> {
  const version = pinnedVersion(pinned);
  const cache = cacheFolder();
  await makePrivate(cache);
  const folder = join(cache, `${basename(pinned.folder)}-v${version}-${process.platform}-${process.arch}`);
  const sourceFolder = await download(pinned);
  if (!existsSync(folder)) {
    announce(version);
    await build(pinned, folder);
  }
  return { version, folder, sourceFolder };
}

async function download({ module, folder }: PinnedModule): Promise<string> {
  const options = { cwd: inRepository(folder), env: buildEnvironment() };
  const { stdout } = await run('go', ['mod', 'download', '-json', module], options).catch(
    (error: NodeJS.ErrnoException & { stderr?: string }) => {
      if (error.code === 'ENOENT') throw new MissingProgram(`Go is not installed: install it to build ${module}`);
      const tooOld = /requires go >= (\S+)/.exec(error.stderr ?? '')?.[1];
      if (tooOld !== undefined) throw new MissingProgram(`Go is too old: install Go ${tooOld} to build ${module}`);
      throw error;
    },
  );
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

async function build({ module, folder, programs, flags = [] }: PinnedModule, target: string): Promise<void> {
  const unfinished = `${target}.${process.pid}.building`;
  await mkdir(unfinished, { recursive: true });
  try {
    for (const [program, source] of Object.entries(programs)) {
      const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', join(unfinished, program)];
      const go = spawn('go', [...args, ...flags, `${module}/${source}`], {
        cwd: inRepository(folder),
        env: buildEnvironment(),
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [code] = (await once(go, 'close')) as [number | null];
      if (code !== 0) throw new Error(`go build of ${source} failed with ${code}`);
    }
    await rename(unfinished, target);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
