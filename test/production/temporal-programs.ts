/** Temporal's server and schema tool, built from the module that tools/temporal-server pins, and cached. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildEnvironment, cacheFolder } from '../../src/config/environment/environment.ts';
import { makePrivate } from '../../src/dev/private-cache.ts';
import { inRepository } from '../support/compose.ts';
import { MissingProgram } from '../support/missing-program.ts';

const MODULE = 'go.temporal.io/server';
const FOLDER = inRepository('tools/temporal-server');
const run = promisify(execFile);

export interface TemporalPrograms {
  version: string;
  /** Holds `temporal-server` and `temporal-sql-tool`. */
  folder: string;
  /** The SQL files, as the image of the admin tools has them under /etc/temporal/schema. */
  schemaFolder: string;
}

/** The version in tools/temporal-server/go.mod, such as `1.32.0`. */
export function pinnedServer(): string {
  const version = /go\.temporal\.io\/server v(\S+)/.exec(readFileSync(join(FOLDER, 'go.mod'), 'utf8'))?.[1];
  if (version === undefined) throw new Error(`tools/temporal-server/go.mod does not require ${MODULE}`);
  return version;
}

/** @throws MissingProgram without Go, or with one that is too old */
export async function temporalPrograms(say: (line: string) => void): Promise<TemporalPrograms> {
  const version = pinnedServer();
  const cache = cacheFolder();
  await makePrivate(cache);
  const folder = join(cache, `temporal-server-v${version}-${process.platform}-${process.arch}`);
  const schemaFolder = join(await moduleFolder(), 'schema');
  if (!existsSync(folder)) {
    say(`building Temporal ${version} with Go, once: about 5 minutes on 2 cores`);
    await build(folder);
  }
  return { version, folder, schemaFolder };
}

/** Where Go keeps the module's source. Go downloads it if it is missing. */
async function moduleFolder(): Promise<string> {
  const env = buildEnvironment();
  const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], { cwd: FOLDER, env }).catch(
    (error: NodeJS.ErrnoException & { stderr?: string }) => {
      if (error.code === 'ENOENT') throw new MissingProgram('Go is not installed: install it to build Temporal');
      const tooOld = /requires go >= (\S+)/.exec(error.stderr ?? '')?.[1];
      if (tooOld !== undefined) throw new MissingProgram(`Go is too old: install Go ${tooOld} to build Temporal`);
      throw error;
    },
  );
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

async function build(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}.building`;
  await mkdir(unfinished, { recursive: true });
  try {
    for (const [program, source] of Object.entries({ 'temporal-server': 'server', 'temporal-sql-tool': 'tools/sql' })) {
      const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', join(unfinished, program)];
      const go = spawn('go', [...args, `${MODULE}/cmd/${source}`], {
        cwd: FOLDER,
        env: buildEnvironment(),
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [code] = (await once(go, 'close')) as [number | null];
      if (code !== 0) throw new Error(`go build of ${source} failed with ${code}`);
    }
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
