/** A Temporal server, workers and the sandbox for one batch, and the faults that can hit them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { connectTo } from '../support/connect.ts';
import { childEnvironment } from '../../src/config/environment/environment.ts';
import { startServer, type TemporalServer } from '../../src/dev/temporal-server.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { connect, type Belay } from '../../src/starter.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { temporalExecutable } from '../support/temporal.ts';
import type { Deed } from './batch.ts';
import { CHECK } from './gate-draws.ts';
import { superviseWorker, type SupervisedWorker } from './workers.ts';

export interface Arena {
  sandbox: Sandbox;
  belay: Belay;
  client: Client;
  /** Carries out the deed and resolves when it is undone. */
  perform(deed: Deed): Promise<void>;
  close(): Promise<void>;
}

const TOKEN = 'token-0';
const APPS = { deploy: '/v1/apps/{id}/deploy', latest: '/v1/apps/{id}/deployments/latest' };

/** @param cli the program whose worker is tested @param checked sites that have a check */
export async function openArena(cli: string, workerCount: number, checked: readonly string[]): Promise<Arena> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-model-'));
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, TOKEN);
  const config = join(folder, 'belay.yaml');
  const sandbox = await startSandbox({ token: TOKEN });
  await writeFile(config, JSON.stringify({ api: { app: APPS }, ...sitesOf(sandbox, checked) }));
  const server = await startKillableServer(folder);
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN_FILE: tokenFile };
  const env = { TEMPORAL_ADDRESS: server.address, BELAY_CONFIG: config, ...service };
  const workers = Array.from({ length: workerCount }, () => superviseWorker(cli, env));
  const connection = await connectTo(server.address);
  const belay = await connect({ connection });
  const close = async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await connection.close();
    await server.stop();
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(workers.map((worker) => worker.ready()));
  } catch (error) {
    await close();
    throw error;
  }
  const perform = performer({ sandbox, server, worker: workers[0]!, tokenFile });
  return { sandbox, belay, client: new Client({ connection }), perform, close };
}

function sitesOf({ url }: Sandbox, checked: readonly string[]) {
  if (checked.length === 0) return {};
  const { name, intervalMs, ...rules } = CHECK;
  const sites = Object.fromEntries(
    checked.map((id) => [id, { url: `${url}/sites/${id}`, check: name, private: true }] as const),
  );
  return { sites, checks: { [name]: { ...rules, interval: `${intervalMs}ms` } } };
}

interface KillableServer {
  address: string;
  kill(downMs: number): Promise<void>;
  stop(): Promise<void>;
}

async function startKillableServer(folder: string): Promise<KillableServer> {
  const [executable, port] = [await temporalExecutable(), await lastingPort()];
  const dbFile = join(folder, 'temporal.db');
  const start = () =>
    startServer({ executable, dbFile, logFile: join(folder, 'log'), port, retentionDays: 1, env: childEnvironment() });
  let server: TemporalServer = await start();
  const { address } = server;
  return {
    address,
    async kill(downMs) {
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
      await sleep(downMs);
      server = await start();
    },
    stop: () => server.stop(),
  };
}

interface Parts {
  sandbox: Sandbox;
  server: KillableServer;
  worker: SupervisedWorker;
  tokenFile: string;
}

function performer({ sandbox, server, worker, tokenFile }: Parts): Arena['perform'] {
  let tokens = 0;
  return async ({ what, forMs }) => {
    switch (what) {
      case 'SIGKILL worker':
        await worker.down('SIGKILL', forMs);
        return worker.ready();
      case 'SIGTERM worker':
        await worker.down('SIGTERM', forMs);
        return worker.ready();
      case 'SIGSTOP worker':
        return worker.pause(forMs);
      case 'SIGKILL server':
        // The supervisor restarts a worker that ends during a long server outage.
        await server.kill(forMs);
        return worker.ready();
      case 'SIGKILL both':
        await worker.down('SIGKILL', server.kill(forMs));
        return worker.ready();
      case 'swap token': {
        const token = `token-${(tokens += 1)}`;
        sandbox.setToken(token);
        await sleep(forMs);
        return writeFile(tokenFile, token);
      }
      case 'limit rate':
        sandbox.limit(40);
        await sleep(forMs);
        return sandbox.limit(null);
    }
  };
}
