/** Everything on one machine: a Temporal server, the sandbox, a worker, a webhook receiver. Stopped in the right order. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, childEnvironment, type ServiceConfig } from '../config/environment/environment.ts';
import type { Configuration } from '../config/load.ts';
import type { Webhooks, WebhooksOptions } from '../webhooks/start-receiver.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../sandbox/server.ts';
import { BelayError } from '../contract/results/belay-error.ts';
import type { TemporalPlace } from '../config/temporal/find-temporal.ts';
import { startWorker, type RunningWorker } from '../worker/start.ts';
import { createLogger, type Logger } from '../process/log.ts';
import { installRuntime } from '../worker/sdk-logging.ts';
import { downloadBySdk } from './download-server.ts';
import { findExecutable } from './find-server.ts';
import { showBuild } from './build-progress.ts';
import { startReceiver } from './dev-webhooks.ts';
import { startServer, type TemporalServer } from './temporal-server.ts';

export interface StackOptions {
  /** Where the server's log and database go. */
  folder: string;
  /** Null: a Temporal server of its own is started. */
  temporal: TemporalPlace | null;
  server: { port: number; uiPort: number; keepsData: boolean; retentionDays: number };
  /** Null: the sandbox. */
  service: ServiceConfig | null;
  configuration?: Configuration;
  sandbox?: Pick<SandboxOptions, 'defaults'>;
  taskQueue: string;
  /** Without it there is no webhook receiver. */
  webhookPort?: WebhooksOptions['port'];
}

export interface Stack {
  readonly temporal: TemporalPlace;
  readonly serviceUrl: string;
  readonly sandbox: Sandbox | null;
  readonly webhooks: Webhooks | null;
  /** Rejects when a part ends that wasn't asked to. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
}

/** Once in a process. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const log = createLogger('warn');
  installRuntime(log);
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last();
  };
  try {
    const server = options.temporal === null ? await embeddedServer(options) : null;
    if (server !== null) stops.push(() => server.stop());
    const sandbox = options.service === null ? await ownSandbox(options) : null;
    if (sandbox !== null) stops.push(() => sandbox.sandbox.close());
    const service = options.service ?? sandbox?.config;
    const temporal = options.temporal ?? placeOf(server);
    if (service === undefined) throw new Error('there is neither a service nor a sandbox');
    const { taskQueue, configuration = {} } = options;
    const worker = await startWorker({ temporal, taskQueue, service, configuration, log }, 'warn');
    stops.push(() => worker.stop());
    const own = sandbox?.sandbox ?? null;
    const webhooks = await ownReceiver(options, { server, sandbox: own, log });
    if (webhooks !== null) stops.push(() => webhooks.close());
    const broken = brokenPart(worker, server, () => stops.length === 0, options.folder);
    // Who doesn't look at it is not to be ended by it.
    broken.catch(() => undefined);
    return { temporal, serviceUrl: service.baseUrl, sandbox: own, webhooks, broken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function embeddedServer({ folder, server }: StackOptions): Promise<TemporalServer> {
  await mkdir(folder, { recursive: true });
  const env = childEnvironment();
  const progress = showBuild(process.stderr);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const executable = await findExecutable({
    cacheFolder: cacheFolder(),
    env,
    say,
    onBuild: (built) => progress.show(built),
    download: downloadBySdk,
  }).finally(() => progress.end());
  return startServer({
    executable,
    env,
    logFile: join(folder, 'temporal.log'),
    ...(server.keepsData ? { dbFile: join(folder, 'temporal.db') } : {}),
    port: server.port,
    uiPort: server.uiPort,
    retentionDays: server.retentionDays,
  });
}

async function ownSandbox({ sandbox: given }: StackOptions): Promise<{ sandbox: Sandbox; config: ServiceConfig }> {
  const token = randomBytes(16).toString('hex');
  const sandbox = await startSandbox({ token, ...given });
  return { sandbox, config: { baseUrl: sandbox.url, token: () => Promise.resolve(token) } };
}

async function ownReceiver(
  { webhookPort: port, configuration = {}, taskQueue }: StackOptions,
  { server, ...parts }: { server: TemporalServer | null; sandbox: Sandbox | null; log: Logger },
): Promise<Webhooks | null> {
  if (port === undefined) return null;
  const temporal = server === null ? { taskQueue } : { address: server.address, taskQueue };
  return startReceiver({ port, configuration, temporal, ...parts });
}

function placeOf(server: TemporalServer | null): TemporalPlace {
  if (server === null) throw new Error('there is no Temporal server');
  return { connectionOptions: { address: server.address }, namespace: 'default', uiUrl: server.uiUrl };
}

async function brokenPart(
  worker: RunningWorker,
  server: TemporalServer | null,
  stopped: () => boolean,
  folder: string,
): Promise<never> {
  const error = await Promise.race([
    worker.ended.then(
      () => new Error('the worker ended'),
      (reason: unknown) => new Error(`the worker broke: ${reason instanceof Error ? reason.message : String(reason)}`),
    ),
    ...(server === null ? [] : [server.ended.then(() => serverEnded(folder))]),
  ]);
  if (stopped()) return new Promise(() => undefined);
  throw error;
}

function serverEnded(folder: string): BelayError {
  const message = `the Temporal server ended (${join(folder, 'temporal.log')})`;
  return new BelayError('TemporalUnreachable', `${message}; runs in flight go on when it is started again`);
}
