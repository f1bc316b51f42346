/** A real Temporal server for a test file, gone when its tests are. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './at-end.ts';
import { lastingPort } from './lasting-port.ts';
import { cacheFolder, childEnvironment } from '../../src/config/environment/environment.ts';
import { downloadBySdk } from '../../src/dev/download-server.ts';
import { findExecutable } from '../../src/dev/find-server.ts';
import { startServer, type ServerOptions, type TemporalServer } from '../../src/dev/temporal-server.ts';

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function temporalExecutable(): Promise<string> {
  const quiet = () => undefined;
  const env = childEnvironment();
  return findExecutable({ cacheFolder: cacheFolder(), env, say: quiet, onBuild: quiet, download: downloadBySdk });
}

export async function startTemporal(options: Partial<ServerOptions> = {}): Promise<TemporalServer> {
  const folder = await tempFolder();
  const server = await startServer({
    executable: await temporalExecutable(),
    logFile: join(folder, 'temporal.log'),
    retentionDays: 1,
    env: childEnvironment(),
    ...options,
  });
  atEnd(() => server.stop());
  return server;
}

export interface DurableTemporal {
  readonly server: TemporalServer;
  /** Once it has ended: on the same port, with all it knew. */
  restart(): Promise<void>;
}

/** A Temporal server that can be killed and comes back. */
export async function startDurableTemporal(): Promise<DurableTemporal> {
  const dbFile = join(await tempFolder(), 'temporal.db');
  const port = await lastingPort();
  let server = await startTemporal({ dbFile, port });
  return {
    get server() {
      return server;
    },
    restart: async () => void (server = await startTemporal({ dbFile, port })),
  };
}
