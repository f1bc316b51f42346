/** The real parts that a run needs: a Temporal server, the sandbox, a worker in this process, and a client. */
import { slots } from '../../src/worker/settings.ts';
import { connectTo } from './connect.ts';
import { HTTP_TIMEOUTS } from '../../src/worker/probe-service.ts';
import { startWorker, type WorkerOptions } from '../../src/worker/start.ts';
import { type RunningWorker, shutDown } from '../../src/worker/supervise.ts';
import type { Connection } from '@temporalio/client';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createActivities } from '../../src/activities/index.ts';
import type { ServiceConfig } from '../../src/config/environment/environment.ts';
import type { Configuration } from '../../src/config/file/file-schema.ts';
import type { ServerOptions } from '../../src/dev/temporal-server.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server.ts';
import { definedFields } from '../../src/contract/plain-object.ts';
import { createHostingApiClient } from '../../src/hosting-api/index.ts';
import { connect, type Belay } from '../../src/starter.ts';
import { workersSeen } from '../../src/client/workers.ts';
import { testBundle } from './workflow-bundle.ts';
import { SERVICE_ONLY } from './activity-deps.ts';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';
import { newPlace, type Place } from './shared-temporal.ts';
import { log } from './runtime.ts';
import { startTemporal } from './temporal.ts';
import { NO_REPORTS } from './no-reports.ts';
import { fixedPolicy } from '../../src/config/live-policy.ts';
import './workflow-threads.ts';

export { fresh } from './fresh.ts';

export const TOKEN = 'canary-5f0c2b7e9d';
export const TASK_QUEUE = 'belay';

export interface TestStack extends Place {
  sandbox: Sandbox;
  belay: Belay;
  /** Temporal's own client, to inspect workflows. */
  client: Client;
  worker: RunningWorker;
}

export interface WorldOptions extends Partial<SandboxOptions> {
  serviceUrl?: string;
  /** Uses a separate Temporal server. */
  temporal?: Partial<ServerOptions>;
  /** The configuration of the worker. */
  configuration?: Configuration;
}

const NO_WORDS = { deployment: {}, backup: {} };

/** Call once per suite. */
export async function startTestStack(options: WorldOptions = {}): Promise<TestStack> {
  const { serviceUrl, temporal, configuration, ...sandboxOptions } = options;
  const place = temporal === undefined ? await newPlace() : await ownPlace(temporal);
  const sandbox = await startSandbox({ token: TOKEN, ...sandboxOptions });
  atEnd(() => sandbox.close());
  const worker = await addWorker(place, TASK_QUEUE, serviceUrl ?? sandbox.url, configuration);
  const { address, namespace, uiUrl } = place;
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  const belay = await connect({ connection, namespace, uiUrl, taskQueue: TASK_QUEUE });
  return { ...place, sandbox, belay, client: new Client({ connection, namespace }), worker };
}

async function ownPlace(options: Partial<ServerOptions>): Promise<Place> {
  const { address, uiUrl } = await startTemporal(options);
  return { address, uiUrl, namespace: 'default' };
}

/** Starts another worker in this process. */
export async function addWorker(
  { address, namespace }: Pick<Place, 'address' | 'namespace'>,
  taskQueue: string,
  serviceUrl: string,
  configuration: Configuration = {},
  {
    epoch,
    maxRequestsPerSecond,
    token = () => Promise.resolve(TOKEN),
    policy = fixedPolicy(configuration),
    ...options
  }: Pick<WorkerOptions, 'eventSlots' | 'admission' | 'encryption' | 'version'> &
    Pick<ServiceConfig, 'epoch' | 'maxRequestsPerSecond'> &
    Partial<Pick<ServiceConfig, 'token'> & Pick<WorkerOptions, 'policy'>> = {},
): Promise<RunningWorker> {
  const worker = await startWorker(
    {
      ...options,
      temporal: { connectionOptions: { address }, namespace },
      taskQueue,
      service: {
        baseUrl: serviceUrl,
        token,
        ...definedFields({ epoch, maxRequestsPerSecond }),
      },
      configuration,
      policy,
      log,
      workflowBundle: await testBundle(),
    },
    'poll',
  );
  // If it fails, nothing else tells the tests, which would wait for it in vain.
  void worker.ended.then(() => undefined);
  atEnd(() => worker.stop());
  return worker;
}

/** The environment of a process that uses this namespace. */
export const temporalEnv = ({ address, namespace }: Pick<Place, 'address' | 'namespace'>) => ({
  TEMPORAL_ADDRESS: address,
  TEMPORAL_NAMESPACE: namespace,
});

/** Of a worker that asks Temporal for no activity, and makes only those that it scheduled itself. */
export const OWN_ACTIVITIES = slots({ reason: 'it asks for none', whenOver: () => new Promise(() => {}) });

/**
 * Starts a worker that reads and decides but leaves the POSTs of its queue to other workers.
 * @returns what stops it
 */
export async function addWorkerWithoutPosts(
  { address, namespace, sandbox }: TestStack,
  taskQueue: string,
): Promise<() => Promise<void>> {
  const service = createHostingApiClient({
    ...HTTP_TIMEOUTS,
    baseUrl: sandbox.url,
    token: () => Promise.resolve(TOKEN),
  });
  const workerInfo = { service: sandbox.url, formerly: [], epoch: '1', statuses: NO_WORDS, searchAttributes: false };
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    ...NO_REPORTS,
    workflowBundle: await testBundle(),
    activities: createActivities({
      service,
      workerInfo,
      ...SERVICE_ONLY,
    }),
    tuner: OWN_ACTIVITIES,
  });
  const ended = worker.run().finally(() => connection.close());
  const stop = async () => {
    shutDown([worker]);
    await ended;
  };
  atEnd(stop);
  return stop;
}

/** Returns a client of another task queue once a worker polls it. */
export async function belayOn(
  { client, namespace }: Pick<TestStack, 'client' | 'namespace'>,
  taskQueue: string,
): Promise<Belay> {
  const polling = () => workersSeen(client.connection, namespace, taskQueue);
  await eventually(`a worker for ${taskQueue}`, async () => (await polling()).length > 0);
  return connect({ connection: client.connection as Connection, namespace, taskQueue });
}
