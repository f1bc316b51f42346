/** Runs everything on one machine: Temporal server, sandbox, worker and webhook receiver. Stops them in reverse order. */
import { mkdir, readFile, writeFile, link, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import {
  buildEnvironment,
  cacheFolder,
  childEnvironment,
  type ServiceConfig,
  searchAttributeMode,
} from '../config/environment/environment.ts';
import type { Configuration } from '../config/load.ts';
import { readEncryption } from '../encryption/encryption.ts';
import { type Webhooks, type WebhooksOptions, startWebhooks } from '../webhooks/start-receiver.ts';
import { type Sandbox, startSandbox } from '../sandbox/server.ts';
import { serviceIdentity } from '../contract/service-identity.ts';
import { BelayError } from '../contract/errors.ts';
import { messageOf } from '../contract/safe-text.ts';
import type { TemporalEndpoint } from '../config/find-temporal.ts';
import { openTracing } from '../tracing/tracing.ts';
import { startWorker, type WorkerOptions } from '../worker/start.ts';
import type { RunningWorker } from '../worker/supervise.ts';
import { createLogger, type Logger } from '../process/log.ts';
import { printNote } from '../process/print.ts';
import { installRuntime } from '../worker/install-runtime.ts';
import { downloadBySdk, findExecutable } from './find-server.ts';
import { showBuild } from './build-server.ts';
import { startServer, type TemporalServer } from './temporal-server.ts';
import { standardSource } from '../webhooks/sources.ts';
import { listens } from './ports.ts';
import { type DevServerRecord, recordFile, readDevServerRecord, runningRecord } from '../config/dev-server-record.ts';

export interface StackOptions {
  folder: string;
  /** Null starts an embedded Temporal server. */
  temporal: TemporalEndpoint | null;
  server: { port: number; uiPort: number; keepsData: boolean; retentionDays: number };
  /** Null starts the sandbox. */
  service: ServiceConfig | null;
  configuration: Configuration;
  policy: WorkerOptions['policy'];
  taskQueue: string;
  /** Without a port there is no webhook receiver. */
  webhookPort?: WebhooksOptions['port'];
}

export interface Stack {
  readonly temporal: TemporalEndpoint;
  readonly service: ServiceConfig;
  readonly sandbox: Sandbox | null;
  readonly webhooks: Webhooks | null;
  /** Rejects when a part ends before `stop` is called. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
}

/** Call this once per process, because the SDK installs its runtime only once. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const log = createLogger('warn', process.stderr.isTTY);
  installRuntime(log);
  const encryption = readEncryption((message) => log.warn(message));
  const stops: (() => Promise<void>)[] = [];
  let isStopping = false;
  const stop = async () => {
    isStopping = true;
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last();
  };
  try {
    const { server, temporal } = await temporalOf(options);
    if (server !== null) stops.push(() => server.stop());
    const { sandbox, service } = await serviceOf(options);
    if (sandbox !== null) stops.push(() => sandbox.close());
    const { taskQueue, policy, configuration } = options;
    const tracing = await openTracing({ program: 'belay-worker', warn: (message) => log.warn(message) });
    if (tracing !== null) stops.push(() => tracing.close());
    const searchAttributes = searchAttributeMode();
    const worker = await startWorker(
      { searchAttributes, tracing, temporal, taskQueue, service, configuration, policy, encryption, log },
      server === null ? 'wait' : 'poll',
    );
    stops.push(() => worker.stop());
    const identity = serviceIdentity(service.baseUrl, service.account ?? null);
    const webhooks = await ownReceiver(options, { server, service: identity, sandbox, log });
    if (webhooks !== null) stops.push(() => webhooks.close());
    const broken = brokenPart(worker, server, () => isStopping, options);
    // A caller may ignore this promise, and an unhandled rejection would end the process.
    broken.catch(() => undefined);
    return { temporal, service, sandbox, webhooks, broken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function embeddedServer({ folder, server }: StackOptions): Promise<TemporalServer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const progress = showBuild(process.stderr);
  const executable = await findExecutable({
    cacheFolder: cacheFolder(),
    env: buildEnvironment(),
    say: (line) => printNote(line),
    onBuild: (built) => progress.show(built),
    download: downloadBySdk,
  }).finally(() => progress.end());
  return startServer({
    executable,
    env: childEnvironment(),
    logFile: join(folder, 'temporal.log'),
    ...(server.keepsData ? { dbFile: join(folder, 'temporal.db') } : {}),
    port: server.port,
    uiPort: server.uiPort,
    retentionDays: server.retentionDays,
  });
}

async function temporalOf(
  options: StackOptions,
): Promise<{ server: TemporalServer | null; temporal: TemporalEndpoint }> {
  if (options.temporal !== null) return { server: null, temporal: options.temporal };
  const server = await embeddedServer(options);
  const { address, uiUrl } = server;
  const own = { origin: 'dev', isOneOfSeveral: false, credentials: null } as const;
  return { server, temporal: { connectionOptions: { address }, namespace: 'default', uiUrl, ...own } };
}

async function brokenPart(
  worker: RunningWorker,
  server: TemporalServer | null,
  stopped: () => boolean,
  options: StackOptions,
): Promise<never> {
  const error = await Promise.race([
    worker.ended.then(
      () => new Error('the worker stopped'),
      (reason: unknown) => new Error(`the worker failed: ${messageOf(reason)}`),
    ),
    ...(server === null ? [] : [server.ended.then(() => serverEnded(options))]),
  ]);
  if (stopped()) return new Promise(() => undefined);
  throw error;
}

function serverEnded({ folder, service }: StackOptions): BelayError {
  const message = `the Temporal server stopped (see ${join(folder, 'temporal.log')})`;
  const but = service === null ? ', but the sandbox forgets their backups and deployments' : '';
  return new BelayError('TemporalUnreachable', `${message}; runs in flight continue when it is restarted${but}`);
}

/** Maps the bodies that the sandbox sends. */
const SANDBOX_EVENTS = {
  fields: { server: 'data.server_id', site: 'data.site_id', backup: 'data.backup_id' },
  kinds: { 'backup.started': ['backup.started'] },
};

/** The webhook receiver of `belay dev`. Its sandbox sends events to it. */
async function ownReceiver(
  { webhookPort: port, configuration, taskQueue }: StackOptions,
  parts: { server: TemporalServer | null; service: string; sandbox: Sandbox | null; log: Logger },
): Promise<Webhooks | null> {
  if (port === undefined) return null;
  const { server, service, sandbox, log } = parts;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhooks = await startWebhooks({
    host: '127.0.0.1',
    acceptUnverified: true,
    port,
    configuration,
    temporal: server === null ? { taskQueue } : { address: server.address, taskQueue },
    service,
    log,
    moreSources:
      sandbox === null
        ? []
        : [standardSource('sandbox', () => Promise.resolve({ usable: [secret], problem: null }), SANDBOX_EVENTS)],
  });
  sandbox?.subscribe({ url: `${webhooks.url}/webhooks/sandbox`, secret });
  return webhooks;
}

async function serviceOf(options: StackOptions): Promise<{ sandbox: Sandbox | null; service: ServiceConfig }> {
  if (options.service !== null) return { sandbox: null, service: options.service };
  const token = randomBytes(16).toString('hex');
  const sandbox = await startOwnSandbox(options, token);
  return { sandbox, service: { baseUrl: sandbox.url, token: () => Promise.resolve(token) } };
}

/**
 * Locks and schedules belong to a service, by its address. So a sandbox whose Temporal keeps its data also keeps its
 * port, if that is still free.
 */
async function startOwnSandbox({ folder, server }: StackOptions, token: string): Promise<Sandbox> {
  const start = (port: number) => startSandbox({ token, port });
  if (!server.keepsData) return start(0);
  const file = join(folder, 'sandbox-port');
  const sandbox = await start(await lastPort(file)).catch(() => start(0));
  await writeFile(file, new URL(sandbox.url).port);
  return sandbox;
}

/** Returns 0 if no port was kept. */
async function lastPort(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^\d{1,5}$/.test(text) && Number(text) < 65_536 ? Number(text) : 0;
}

/* The record that `belay dev` keeps in its home folder. It claims the folder and holds the address of its Temporal. */

const textOf = (record: DevServerRecord) => `${JSON.stringify(record)}\n`;

/** Claims the folder for this process. @returns null, or the record of the process that has it already */
export async function claimHome(home: string): Promise<DevServerRecord | null> {
  // Only this user may open the folder: its database holds every run, and programs trust its record.
  await mkdir(home, { recursive: true, mode: 0o700 });
  // Link a complete file: no reader sees half of it, and only one of two processes succeeds.
  const draft = `${recordFile(home)}.${process.pid}`;
  // Only this user may read the record, because it later holds the token of the sandbox.
  await writeFile(draft, textOf({ pid: process.pid, temporal: null, ui: null }), { mode: 0o600 });
  try {
    for (;;) {
      if (await linked(draft, recordFile(home))) return null;
      const text = await readFile(recordFile(home), 'utf8').catch(() => '');
      const record = runningRecord(text);
      if (record !== null && (await isRunning(record))) return record;
      await removeStale(home, text);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the record of a killed process, unless a new one has replaced it in the meantime. */
async function removeStale(home: string, text: string): Promise<void> {
  const aside = `${recordFile(home)}.${process.pid}.left`;
  try {
    await rename(recordFile(home), aside);
  } catch {
    return;
  }
  if ((await readFile(aside, 'utf8')) !== text) await linked(aside, recordFile(home));
  await rm(aside, { force: true });
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export async function writeDevServerRecord(home: string, record: DevServerRecord): Promise<void> {
  await writeFile(recordFile(home), textOf(record));
}

export async function removeDevServerRecord(home: string): Promise<void> {
  if (readDevServerRecord(home)?.pid === process.pid) await rm(recordFile(home), { force: true });
}

/** Checks the port as well, because another process may have the PID by now. In a container, that is common. */
async function isRunning({ pid, temporal }: DevServerRecord): Promise<boolean> {
  if (pid === process.pid) return false;
  return temporal === null || listens(Number(temporal.split(':').pop()));
}
