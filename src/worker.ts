/** Program `belay worker`: executes runs from Temporal. Only workers send requests that begin something at the service. */
import {
  requireService,
  serviceConfig,
  taskQueue,
  metricsAddress,
  searchAttributeMode,
  workerVersion,
} from './config/environment/environment.ts';
import { readConfiguration } from './config/load.ts';
import { runUntilSignal } from './process/signals.ts';
import { readEncryption } from './encryption/encryption.ts';
import { findTemporal } from './config/find-temporal.ts';
import { policyOfFile } from './config/live-policy.ts';
import { openTracing } from './tracing/tracing.ts';
import { startWorker } from './worker/start.ts';
import { createLogger, type Logger } from './process/log.ts';
import { installRuntime } from './worker/install-runtime.ts';
import { createMonitoring, type Monitoring } from './worker/monitoring.ts';
import { createSdkMetrics, serveMonitoring, type MonitoringServer } from './worker/monitoring-server.ts';

export async function runWorker(): Promise<void> {
  const service = requireService(await serviceConfig());
  const configuration = await readConfiguration();
  const temporal = findTemporal();
  const log = createLogger('info');
  const encryption = readEncryption((message) => log.warn(message));
  const version = workerVersion();
  const monitoring = createMonitoring(version?.buildId ?? null);
  const policy = await policyOfFile(configuration, { log, onRead: monitoring.metrics.policyRead });
  const tracing = await openTracing({ program: 'belay-worker', warn: (message) => log.warn(message) });
  const server = await prepare(monitoring, log);
  const stopping = new AbortController();
  const parts = { configuration, policy, encryption, version, tracing, searchAttributes: searchAttributeMode() };
  const starting = startWorker(
    { ...parts, temporal, taskQueue: taskQueue(), service, log, monitoring },
    'wait',
    stopping.signal,
  );
  const polling = starting.then(({ clockAheadMs, ended }) => {
    const { address } = temporal.connectionOptions;
    log.info({ service: service.baseUrl, temporal: address, taskQueue: taskQueue(), clockAheadMs }, 'polling');
    return ended;
  });
  await runUntilSignal(polling.then(() => new Promise<never>(() => undefined)));
  stopping.abort();
  log.info('stopping: waiting for requests in progress');
  const worker = await starting.catch(() => null);
  await worker?.stop();
  await tracing?.close();
  await server?.close();
}

/** Installs the runtime, and serves health and metrics if an address is set. */
async function prepare(monitoring: Monitoring, log: Logger): Promise<MonitoringServer | null> {
  const address = metricsAddress();
  if (address === null) {
    installRuntime(log);
    return null;
  }
  const sdkMetrics = await createSdkMetrics();
  const server = await serveMonitoring(address, monitoring, sdkMetrics);
  installRuntime(log, sdkMetrics.exporter);
  log.info({ url: server.url }, 'serving /healthz, /readyz and /metrics');
  return server;
}
