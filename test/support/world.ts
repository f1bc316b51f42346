/** Everything a run needs, for real: a Temporal server, the sandbox, a worker in this process, and a client. */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { createActivities } from '../../src/activities/index.ts';
import { createStatusWords } from '../../src/activities/http/statuses.ts';
import type { Configuration } from '../../src/config/file/file-schema.ts';
import type { ServerOptions } from '../../src/dev/temporal-server.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server.ts';
import { createServiceClient } from '../../src/hosting-api/index.ts';
import { connect, type Belay } from '../../src/starter.ts';
import { workerSeen } from '../../src/client/connection/pollers.ts';
import { startWorker, WORKFLOW_BUNDLE, type RunningWorker } from '../../src/worker/start.ts';
import { installRuntime } from '../../src/worker/sdk-logging.ts';
import { NOBODY_ELSE } from './activity-deps.ts';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';
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

export interface WorldOptions extends Partial<SandboxOptions> {
  serviceUrl?: string;
  temporal?: Partial<ServerOptions>;
  /** Of the worker. */
  configuration?: Configuration;
}

const lines: string[] = [];
export const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });

/** What the workers of this process logged. */
export const workerLog = (): string => lines.join('');

/** Once in a test file. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { serviceUrl, temporal, configuration, ...sandboxOptions } = options;
  const server = await startTemporal(temporal);
  const sandbox = await startSandbox({ token: TOKEN, ...sandboxOptions });
  atEnd(() => sandbox.close());
  installRuntime(log);
  const place = { address: server.address, uiUrl: server.uiUrl };
  const worker = await addWorker(place, TASK_QUEUE, serviceUrl ?? sandbox.url, configuration);
  const connection = await Connection.connect({ address: server.address });
  atEnd(() => connection.close());
  const belay = await connect({ connection, uiUrl: server.uiUrl, taskQueue: TASK_QUEUE });
  return { address: server.address, sandbox, belay, client: new Client({ connection }), worker };
}

/** One more worker of this process. */
export async function addWorker(
  { address }: Pick<World, 'address'>,
  taskQueue: string,
  serviceUrl: string,
  configuration: Configuration = {},
): Promise<RunningWorker> {
  const worker = await startWorker(
    {
      temporal: { connectionOptions: { address }, namespace: 'default' },
      taskQueue,
      service: { baseUrl: serviceUrl, token: () => Promise.resolve(TOKEN) },
      configuration,
      log,
    },
    'warn',
  );
  atEnd(() => worker.stop());
  return worker;
}

/** A worker that reads and decides, and leaves the POSTs of its queue to others. */
export async function addWorkerWithoutPosts({ address, sandbox }: World, taskQueue: string): Promise<void> {
  const service = createServiceClient({ baseUrl: sandbox.url, token: () => Promise.resolve(TOKEN) });
  const facts = { service: service.origin, searchAttributes: false };
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: WORKFLOW_BUNDLE,
    activities: createActivities({
      service,
      statuses: createStatusWords(),
      facts,
      ...NOBODY_ELSE,
    }),
    enableNonLocalActivities: false,
  });
  const ended = worker.run().finally(() => connection.close());
  atEnd(async () => {
    worker.shutdown();
    await ended;
  });
}

/** A client of another task queue, once a worker polls it. */
export async function belayOn({ client }: World, taskQueue: string): Promise<Belay> {
  await eventually(`a worker for ${taskQueue}`, () => workerSeen(client, 'default', taskQueue));
  return connect({ connection: client.connection as Connection, taskQueue });
}

let names = 0;

/** A name that no other test of this file uses. */
export function fresh(prefix: string): string {
  names += 1;
  return `${prefix}${names}`;
}
