/** Everything a run needs, for real: a Temporal server, the sandbox, a worker in this process, and a client. */
import { atEnd } from './at-end.ts';
import { Client, Connection } from '@temporalio/client';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server.ts';
import { connect, type Belay } from '../../src/starter.ts';
import { startWorker, type RunningWorker } from '../../src/worker/create.ts';
import { createLogger, installRuntime } from '../../src/worker/log.ts';
import { startTemporal } from './temporal.ts';

export const TOKEN = 'canary-5f0c2b7e9d';
export const TASK_QUEUE = 'belay';

export interface World {
  address: string;
  sandbox: Sandbox;
  belay: Belay;
  /** Temporal's own client, to look behind the scenes. */
  client: Client;
  worker: RunningWorker;
}

/** Once in a test file. */
export async function startWorld(options: Partial<SandboxOptions> & { serviceUrl?: string } = {}): Promise<World> {
  const server = await startTemporal();
  const { serviceUrl, ...sandboxOptions } = options;
  const sandbox = await startSandbox({ token: TOKEN, ...sandboxOptions });
  atEnd(() => sandbox.close());
  const log = createLogger('silent');
  installRuntime(log);
  const worker = await startWorker(
    {
      temporal: { connectionOptions: { address: server.address }, namespace: 'default' },
      taskQueue: TASK_QUEUE,
      service: { baseUrl: serviceUrl ?? sandbox.url, token: () => Promise.resolve(TOKEN) },
      log,
    },
    'warn',
  );
  atEnd(() => worker.stop());
  const connection = await Connection.connect({ address: server.address });
  atEnd(() => connection.close());
  const belay = await connect({ connection, uiUrl: server.uiUrl, taskQueue: TASK_QUEUE });
  return { address: server.address, sandbox, belay, client: new Client({ connection }), worker };
}

let names = 0;

/** A name that no other test of this file uses. */
export function fresh(prefix: string): string {
  names += 1;
  return `${prefix}${names}`;
}
