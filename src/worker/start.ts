/** Starts a worker: checks the service, registers search attributes, and applies the measured settings. */
import type { ConnectionLike } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import type { ServiceConfig } from '../config/environment/environment.ts';
import type { SearchAttributeMode } from '../config/environment/search-attribute-mode.ts';
import type { Configuration } from '../config/load.ts';
import { createHostingApiClient, createPacer, type Pacer } from '../hosting-api/index.ts';
import { fixedPolicy, type CurrentPolicy } from '../policy/live-policy.ts';
import { createNotifier } from '../activities/notifications/notifier.ts';
import { serverTimeMs } from '../client/connection/server-time.ts';
import { withLink } from '../client/connection/ui-link.ts';
import { temporalDeps } from '../client/lookups/index.ts';
import type { TemporalEndpoint } from '../config/temporal/find-temporal.ts';
import { NO_ENCRYPTION, type Encryption } from '../encryption/encryption.ts';
import { tryConnect, type WorkerConnection, type WorkerEndpoint } from './connect.ts';
import { createAdmission, type Admission } from './admission/admission.ts';
import { createWorkers } from './sdk-workers/create-workers.ts';
import { createPool, type WorkerPool } from './pool/pool.ts';
import type { Logger } from '../process/log.ts';
import { VERSION } from '../process/version.ts';
import { clockDifference } from '../contract/wording/clock-difference.ts';
import { TIMING } from '../contract/timing.ts';
import { lastPollMs, waitUntilPolling } from './queue/own-polls.ts';
import { DEFAULT_EPOCH } from '../contract/names.ts';
import type { WorkerVersion } from '../contract/ids/worker-version.ts';
import { serviceIdentity, withAccount, type ServedService } from '../contract/service-identity.ts';
import { refuseOtherService, type PolledQueue } from './queue/check-queue.ts';
import { newIdentity } from './identity.ts';
import { probeService, type Probe } from './probe-service.ts';
import { createMonitoring, type Monitoring } from './monitoring/monitoring.ts';
import { reportSinks } from './monitoring/workflow-reports.ts';
import { prepareAttributes } from './attributes/search-attributes.ts';
import { bundleFor, workflowBundle } from './bundle/workflow-source.ts';
import { createSiteReader } from '../site-check/index.ts';
import { createRest } from './rest-until-answered.ts';
import { runTogether, shutDown } from './run-together.ts';
import { HTTP_TIMEOUTS } from './http-timeouts.ts';
import type { EVENT_SLOTS } from './sdk-workers/settings.ts';
import { countWorkers, shareCeiling } from './queue/share-ceiling.ts';
import { versioning } from './versioning.ts';
import { untilReady } from './until-ready.ts';

export interface WorkerOptions {
  temporal: WorkerEndpoint & Pick<TemporalEndpoint, 'namespace'> & Partial<Pick<TemporalEndpoint, 'uiUrl'>>;
  taskQueue: string;
  service: ServiceConfig;
  /** Default: no belay.yaml. */
  configuration?: Configuration;
  log: Logger;
  /** Default: none. */
  encryption?: Encryption;
  /** Default: that of the source or build this module is part of. */
  workflowBundle?: { codePath: string };
  /** Default: those in settings.ts. */
  eventSlots?: typeof EVENT_SLOTS;
  /** Default: as many runs as its reads allow. */
  admission?: Admission;
  /** Default: measured, but not served. */
  monitoring?: Monitoring;
  /** Default: not versioned. */
  version?: WorkerVersion | null;
  /** Default: that of the configuration. */
  policy?: CurrentPolicy;
  /** Default: `register`. */
  searchAttributes?: SearchAttributeMode;
}

export interface RunningWorker {
  /** How far this machine's clock is ahead of Temporal's. Null if Temporal did not answer in time. */
  readonly clockAheadMs: number | null;
  /** Resolves when the worker has stopped, rejects when it fails. */
  readonly ended: Promise<void>;
  /** Stops the worker after its requests in progress have finished. */
  stop(): Promise<void>;
}

/**
 * @param withoutService `wait` for one of several workers, so that it takes no work that the others can do; `poll` for
 * the only worker of a Temporal server, whose runs then report what is wrong
 * @param stopped ends the wait for the service and for Temporal
 * @throws ConfigError for a mistake in the configuration, and AbortError once `stopped`
 */
export async function startWorker(
  options: WorkerOptions,
  withoutService: 'wait' | 'poll',
  stopped?: AbortSignal,
): Promise<RunningWorker> {
  const { temporal, taskQueue, configuration = {}, log } = options;
  const { monitoring = createMonitoring(), version = null, encryption = NO_ENCRYPTION } = options;
  const { metrics } = monitoring;
  const { namespace, uiUrl = null } = temporal;
  const { statuses = {} } = configuration;
  const notifier = await createNotifier(configuration.notify, (result) => withLink({ namespace, uiUrl }, result));
  const { maxRequestsPerSecond: ceiling = null } = options.service;
  const pacer = createPacer(TIMING.pace);
  const service = serviceClient(options, pacer, monitoring);
  const served = servedBy(options.service, configuration);
  const epoch = options.service.epoch ?? DEFAULT_EPOCH;
  const { dataConverter } = encryption;
  const identity = newIdentity(served.service, epoch, encryption.isOn);
  const queue = { namespace, taskQueue, identity, served };
  const probe = () => probeService(service, options.service.baseUrl);
  const temporalNow = await connectWhenReady(options, { probe, queue, withoutService, stopped, monitoring });
  const { connection } = temporalNow;
  const closing = new AbortController();
  void shareCeiling(pacer, ceiling, () => countWorkers(connection, queue), { log, ended: closing.signal });
  const rest = createRest(() => isAnswered(probe), log, closing.signal);
  const searchAttributes = await useAttributes(options, connection);
  const { admission = createAdmission() } = options;
  const pool = createPool();
  const activities = createActivities({
    service,
    rest,
    admission,
    pool,
    readSite: createSiteReader(),
    policy: options.policy ?? fixedPolicy(configuration),
    workerInfo: {
      ...served,
      epoch,
      statuses: { deployment: statuses.deployment ?? {}, backup: statuses.backup ?? {} },
      deploysApps: service.deploysApps,
      searchAttributes,
      ...(notifier.settings === null ? {} : { notify: notifier.settings }),
    },
    sendNotification: (input) => notifier.send(input),
    callHeartbeat: (name) => notifier.callHeartbeat(name),
    onRead: metrics.polled,
    ...temporalDeps({ connection, namespace, taskQueue, identity, dataConverter }),
  });
  const bundle = options.workflowBundle ?? (await workflowBundle());
  const workflows = await bundleFor(bundle, { encodesFailures: encryption.isOn, isVersioned: version !== null });
  const parts = {
    connection: temporalNow.inUse(),
    namespace,
    taskQueue,
    identity,
    activities,
    dataConverter,
    ...versioning(version),
  };
  const ofWorkflows = { workflowBundle: workflows, sinks: reportSinks(metrics, log, VERSION) };
  const workers = await createWorkers(parts, ofWorkflows, { admission, rest, eventSlots: options.eventSlots });
  temporalNow.carry(workers);
  return supervise(workers, { connection, pool, queue, closing, log, monitoring });
}

interface Supervised {
  connection: ConnectionLike;
  pool: WorkerPool;
  queue: PolledQueue;
  /** Aborted when the workers have ended. */
  closing: AbortController;
  log: Logger;
  monitoring: Monitoring;
}

/** Runs the workers. @returns once Temporal lists them */
async function supervise(
  workers: readonly Worker[],
  { connection, pool, queue, closing, log, monitoring }: Supervised,
): Promise<RunningWorker> {
  const ended = runTogether(workers).finally(() => {
    closing.abort();
    return connection.close();
  });
  const polling = waitUntilPolling(connection, queue);
  monitoring.polling = {
    workers,
    polledMs: () => lastPollMs(connection, queue),
    nowMs: () => serverTimeMs(connection, queue.namespace),
  };
  const clockAheadMs = (await Promise.race([polling, ended])) ?? null;
  // Of two workers that start at the same time, each sees the other only now.
  await refuseOtherService(connection, queue).catch(async (error: unknown) => {
    shutDown(workers);
    await ended;
    throw error;
  });
  if (clockAheadMs !== null) {
    monitoring.metrics.clockIs(clockAheadMs);
    reportClock(clockAheadMs, log);
  }
  return {
    ended,
    clockAheadMs,
    async stop() {
      pool.leave();
      shutDown(workers);
      await ended;
    },
  };
}

async function useAttributes({ temporal, searchAttributes, log }: WorkerOptions, connection: ConnectionLike) {
  const {
    namespace,
    connectionOptions: { address },
  } = temporal;
  const { use, problem } = await prepareAttributes(searchAttributes ?? 'register', connection, { namespace, address });
  if (problem !== null) {
    const { message, remedy } = problem;
    log.warn(`search attributes are not used: ${message}${remedy === null ? '' : `: ${remedy}`}`);
  }
  return use;
}

function serviceClient({ service, configuration }: WorkerOptions, pacer: Pacer, { metrics }: Monitoring) {
  const appPaths = configuration?.api?.app;
  return createHostingApiClient({ ...service, ...HTTP_TIMEOUTS, pacer, onRequest: metrics.requested, appPaths });
}

function servedBy({ baseUrl, account = null }: ServiceConfig, { formerly = [] }: Configuration): ServedService {
  return {
    service: serviceIdentity(baseUrl, account),
    formerly: formerly.map((identity) => withAccount(identity, account)),
  };
}

/** What must be there before a worker polls. */
async function connectWhenReady(
  { temporal, log }: WorkerOptions,
  parts: {
    probe: () => Promise<Probe>;
    queue: PolledQueue;
    withoutService: 'wait' | 'poll';
    stopped: AbortSignal | undefined;
    monitoring: Monitoring;
  },
): Promise<WorkerConnection> {
  const { probe, queue, withoutService, stopped, monitoring } = parts;
  const onCredentials = monitoring.metrics.credentialsAre;
  const live = await untilReady(() => tryConnect(temporal, { log, onCredentials }), log, stopped);
  const { connection } = live;
  try {
    await refuseOtherService(connection, queue);
    if (withoutService === 'wait') await untilReady(() => tryService(probe), log, stopped);
    else await warnWithoutService(probe, log);
    return live;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function tryService(probe: () => Promise<Probe>): Promise<{ ready: true } | { problem: string }> {
  const probed = await probe();
  return probed.state === 'ok' ? { ready: true } : { problem: probed.message };
}

async function warnWithoutService(probe: () => Promise<Probe>, log: Logger): Promise<void> {
  const tried = await tryService(probe);
  if ('problem' in tried) log.warn(tried.problem);
}

const isAnswered = (probe: () => Promise<Probe>): Promise<boolean> =>
  probe().then(
    ({ state }) => state === 'ok',
    () => false,
  );

/** It decides nothing, but people compare the times in logs. */
function reportClock(aheadMs: number, log: Logger): void {
  if (Math.abs(aheadMs) <= TIMING.doctor.clockToleranceMs) return;
  log.warn({ clockAheadMs: aheadMs }, `${clockDifference("Temporal's", aheadMs)}: synchronize the clocks with NTP`);
}
