/** Starts a worker: checks the service, registers search attributes, and applies the measured settings. */
import type { ConnectionLike } from '@temporalio/client';
import { createActivities } from '../activities/index.ts';
import { MACHINE_CLOCKS } from '../activities/stopwatch.ts';
import type { ServiceConfig, SearchAttributeMode } from '../config/environment/environment.ts';
import type { Configuration } from '../config/load.ts';
import { createHostingApiClient, createPacer, type Pacer, type RequestReport } from '../hosting-api/index.ts';
import { announcePolicy, refuseOtherService, type PolledQueue } from './queue.ts';
import { createApprovalJudge } from '../features/approvals/worker.ts';
import { createFreezeJudge } from '../features/freezes/worker.ts';
import type { CurrentPolicy } from '../config/live-policy.ts';
import { requireAll } from '../config/policy.ts';
import { createNotifier } from '../features/notifications/worker.ts';
import { serverTimeMs } from '../client/server-time.ts';
import { linksOf } from '../client/ui-link.ts';
import { temporalDeps } from '../client/lookups/index.ts';
import type { TemporalEndpoint } from '../config/find-temporal.ts';
import { NO_ENCRYPTION, type Encryption } from '../encryption/encryption.ts';
import { tryConnect, type WorkerConnection, type WorkerEndpoint, untilReady } from './connect.ts';
import { createAdmission, type Admission } from './admission.ts';
import { createWorkers, newIdentity, versioning } from './sdk-workers.ts';
import { createPool } from './pool.ts';
import type { Logger } from '../process/log.ts';
import { TIMING } from '../contract/timing.ts';
import { DEFAULT_EPOCH } from '../contract/names.ts';
import { definedFields, ownEntry } from '../contract/plain-object.ts';
import type { WorkerVersion } from '../contract/worker-identity.ts';
import { serviceIdentity, withAccount, type ServedService } from '../contract/service-identity.ts';
import { probeService, type Probe, createRest, HTTP_TIMEOUTS } from './probe-service.ts';
import { createMonitoring, type Monitoring, metricSinks } from './monitoring.ts';
import { prepareAttributes } from './search-attributes.ts';
import { bundleFor, workflowBundle } from './bundle/workflow-source.ts';
import { createSiteReader, readPage } from '../site-check/index.ts';
import type { EVENT_SLOTS } from './settings.ts';
import { supervise, type RunningWorker } from './supervise.ts';
import { countWorkers, shareCeiling } from './share-ceiling.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { createFindRunOf } from '../client/lookups/runs.ts';
import { activitySpans, noteAnswer, withWorkflowSpans } from './tracing.ts';

export interface WorkerOptions {
  temporal: WorkerEndpoint & Pick<TemporalEndpoint, 'namespace'> & Partial<Pick<TemporalEndpoint, 'uiUrl'>>;
  taskQueue: string;
  service: ServiceConfig;
  /** Default: no belay.yaml. */
  configuration?: Configuration;
  log: Logger;
  /** Default: none. */
  encryption?: Encryption;
  /** Default: the bundle of the source or build that this module belongs to. */
  workflowBundle?: { codePath: string };
  /** Default: the slots in settings.ts. */
  eventSlots?: typeof EVENT_SLOTS;
  /** Default: admits as many runs as the worker's reads allow. */
  admission?: Admission;
  /** Default: measured, but not served. */
  monitoring?: Monitoring;
  /** Default: not versioned. */
  version?: WorkerVersion | null;
  /** The policy in force. It may differ from the configuration that the worker started with. */
  policy: CurrentPolicy;
  /** Default: `register`. */
  searchAttributes?: SearchAttributeMode;
  /** Default: no traces. */
  tracing?: Tracing | null;
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
  const { temporal, taskQueue, configuration = {}, policy, log } = options;
  const { monitoring = createMonitoring(), version = null, encryption = NO_ENCRYPTION } = options;
  const { metrics } = monitoring;
  const { namespace, uiUrl = null } = temporal;
  const { statuses = {}, deploymentId } = configuration;
  await requireAll(configuration);
  const notifier = await notifierOf(configuration, { namespace, uiUrl });
  const { maxRequestsPerSecond: ceiling = null } = options.service;
  const pacer = createPacer(TIMING.pace);
  const service = serviceClient(options, pacer, monitoring);
  const served = servedBy(options.service, configuration);
  const epoch = options.service.epoch ?? DEFAULT_EPOCH;
  const { dataConverter } = encryption;
  const identity = newIdentity(served.service, epoch, encryption.isOn);
  const queue = { namespace, taskQueue, identity, served };
  const probe = () => probeService(service, options.service.baseUrl);
  const live = await connectWhenReady(options, { probe, queue, withoutService, stopped, monitoring });
  const { connection } = live;
  const closing = new AbortController();
  void shareCeiling(pacer, ceiling, () => countWorkers(connection, queue), { log, ended: closing.signal });
  const rest = createRest(() => isAnswered(probe), log, closing.signal);
  const searchAttributes = await useAttributes(options, connection, stopped);
  const { admission = createAdmission() } = options;
  const pool = createPool(() => serverTimeMs(connection, namespace));
  void announcePolicy(connection, policy, queue, closing.signal);
  const { findFreezes, ...ofTemporal } = temporalDeps({ connection, namespace, taskQueue, identity, dataConverter });
  const activities = createActivities({
    service,
    rest,
    admission,
    pool,
    clocks: MACHINE_CLOCKS,
    readSite: createSiteReader(),
    getPage: readPage,
    policy,
    freezes: createFreezeJudge(policy, findFreezes),
    approvals: createApprovalJudge(policy),
    workerInfo: {
      ...served,
      epoch,
      statuses: { deployment: statuses.deployment ?? {}, backup: statuses.backup ?? {} },
      ...definedFields({ deploymentId }),
      deploysApps: service.deploysApps,
      searchAttributes,
      ...(notifier.settings === null ? {} : { notify: notifier.settings }),
    },
    deliveries: notifier,
    onRead: metrics.polled,
    ...ofTemporal,
  });
  const bundle = options.workflowBundle ?? (await workflowBundle());
  const workflows = await bundleFor(bundle, { encodesFailures: encryption.isOn, isVersioned: version !== null });
  const parts = {
    connection: live.inUse(),
    namespace,
    taskQueue,
    identity,
    activities,
    dataConverter,
    ...versioning(version),
    ...interceptors(options, connection),
  };
  const ofWorkflows = { workflowBundle: workflows, sinks: sinksOf(options, monitoring) };
  const workers = await createWorkers(parts, ofWorkflows, { admission, rest, eventSlots: options.eventSlots });
  live.carry(workers);
  return supervise(workers, { connection, pool, queue, closing, log, monitoring });
}

const notifierOf = ({ notify, sites = {} }: Configuration, place: Parameters<typeof linksOf>[0]) =>
  createNotifier(notify, {
    ofRun: (run) => linksOf(place, run).ui,
    ofSite: (siteId) => ownEntry(sites, siteId)?.url ?? null,
  });

async function useAttributes(
  { temporal, searchAttributes, log }: WorkerOptions,
  connection: ConnectionLike,
  stopped: AbortSignal | undefined,
) {
  const {
    namespace,
    connectionOptions: { address },
  } = temporal;
  const prepare = () => prepareAttributes(searchAttributes ?? 'register', connection, { namespace, address });
  const { use, problem } = await untilReady(prepare, log, stopped);
  if (problem !== null) {
    const { message, remedy } = problem;
    log.warn(`search attributes are not used: ${message}${remedy === null ? '' : `: ${remedy}`}`);
  }
  return use;
}

/** Activity interceptors only; workflow interceptors would be part of the bundle. */
function interceptors({ tracing = null, temporal: { namespace } }: WorkerOptions, connection: ConnectionLike) {
  if (tracing === null) return {};
  return {
    interceptors: { activity: [activitySpans(tracing, createFindRunOf(connection, namespace))] },
  };
}

function sinksOf({ tracing = null, log }: WorkerOptions, { metrics }: Monitoring) {
  const sinks = metricSinks(metrics, log);
  return tracing === null ? sinks : withWorkflowSpans(tracing, sinks);
}

function serviceClient({ service, configuration }: WorkerOptions, pacer: Pacer, { metrics }: Monitoring) {
  const appPaths = configuration?.api?.app;
  const onRequest = (report: RequestReport) => {
    metrics.requested(report);
    noteAnswer(report);
  };
  return createHostingApiClient({ ...service, ...HTTP_TIMEOUTS, pacer, onRequest, appPaths });
}

function servedBy({ baseUrl, account = null }: ServiceConfig, { formerly = [] }: Configuration): ServedService {
  return {
    service: serviceIdentity(baseUrl, account),
    formerly: formerly.map((identity) => withAccount(identity, account)),
  };
}

/** Waits for everything that a worker needs before it polls. */
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
    else {
      const tried = await tryService(probe);
      if ('problem' in tried) log.warn(tried.problem);
    }
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

const isAnswered = (probe: () => Promise<Probe>): Promise<boolean> =>
  probe().then(
    ({ state }) => state === 'ok',
    () => false,
  );
