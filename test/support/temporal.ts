/** Starts a real Temporal server for a test file and stops it after its tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './at-end.ts';
import { lastingPort } from './lasting-port.ts';
import { buildEnvironment, cacheFolder, childEnvironment } from '../../src/config/environment/environment.ts';
import { downloadBySdk } from '../../src/dev/download-server.ts';
import { findExecutable } from '../../src/dev/find-server.ts';
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

export async function startTemporal(options: Partial<ServerOptions> = {}): Promise<TemporalServer> {
  const folder = await tempFolder();
  const server = await startServer({
    executable: await temporalExecutable(),
    logFile: join(folder, 'temporal.log'),
    retentionDays: 1,
    // A tenth of its CPU time otherwise collects garbage, and another tenth moves work between threads. The limit
    // matters where a machine has little memory.
    env: { ...childEnvironment(), GOGC: '400', GOMEMLIMIT: '1200MiB', GOMAXPROCS: '1' },
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
