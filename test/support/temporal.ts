/** Starts a real Temporal server for a test file and stops it after its tests. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { atEnd } from './at-end.ts';
import { lastingPort } from './lasting-port.ts';
// The SDK's download and the first connection would each install a runtime without our log.
import './runtime.ts';
import { buildEnvironment, cacheFolder, childEnvironment } from '../../src/config/environment/environment.ts';
import { downloadBySdk, findExecutable } from '../../src/dev/find-server.ts';
import { startServer, type ServerOptions, type TemporalServer } from '../../src/dev/temporal-server.ts';

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

let executable: Promise<string> | undefined;

/** Found once: each time, all of it is read and compared with its checksum. */
export function temporalExecutable(): Promise<string> {
  const quiet = () => undefined;
  const env = buildEnvironment();
  const where = { cacheFolder: cacheFolder(), env, say: quiet, onBuild: quiet, download: downloadBySdk };
  return (executable ??= findExecutable(where));
}

/**
 * A tenth of the server's CPU time otherwise collects garbage, and another tenth moves work between threads. The limit
 * matters where a machine has little memory.
 */
const FRUGAL = { GOGC: '200', GOMEMLIMIT: '1200MiB', GOMAXPROCS: '1' };

/** A program that starts the server with additional arguments. */
export async function executableWith(args: readonly string[]): Promise<string> {
  const program = join(await tempFolder(), 'temporal');
  const settings = Object.entries(FRUGAL).map(([name, value]) => `export ${name}=${value}\n`);
  const command = `exec "${await temporalExecutable()}" "$@" ${args.join(' ')}\n`;
  await writeFile(program, `#!/bin/sh\n${settings.join('')}${command}`, { mode: 0o755 });
  return program;
}

/** A PATH with the server. Where there is none, a program reads all of the one in the cache before it starts it. */
export async function pathWithTemporal(): Promise<string> {
  return [dirname(await executableWith([])), process.env.PATH].join(delimiter);
}

export async function startTemporal(options: Partial<ServerOptions> = {}): Promise<TemporalServer> {
  const folder = await tempFolder();
  const server = await startServer({
    executable: await temporalExecutable(),
    logFile: join(folder, 'temporal.log'),
    retentionDays: 1,
    env: { ...childEnvironment(), ...FRUGAL },
    ...options,
  });
  atEnd(() => server.stop());
  return server;
}

export interface DurableTemporal {
  readonly server: TemporalServer;
  /** Restarts it after its end, on the same port with the same data. */
  restart(): Promise<void>;
}

/** A Temporal server that can be killed and restarted. */
export async function startDurableTemporal(
  options: Partial<Pick<ServerOptions, 'executable' | 'port'>> = {},
): Promise<DurableTemporal> {
  const dbFile = join(await tempFolder(), 'temporal.db');
  const durable = { port: await lastingPort(), ...options, dbFile };
  let server = await startTemporal(durable);
  return {
    get server() {
      return server;
    },
    restart: async () => void (server = await startTemporal(durable)),
  };
}
