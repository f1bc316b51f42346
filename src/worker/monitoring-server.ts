/** Serves the health and the metrics of a worker. */
import fastify from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ConfigError } from '../config/environment/variables.ts';
import { TIMING } from '../contract/timing.ts';
import { askAtMost } from '../client/within.ts';
import type { Monitoring, PollingWorker } from './monitoring.ts';
import type { Logger } from '../process/log.ts';
import { freePort } from '../process/free-port.ts';

export interface MonitoringServer {
  /** Such as `http://127.0.0.1:9464`. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws ConfigError if it cannot listen there */
export async function serveMonitoring(
  { host, port }: { host: string; port: number },
  monitoring: Monitoring,
  sdkMetrics: Awaited<ReturnType<typeof createSdkMetrics>>,
): Promise<MonitoringServer> {
  const { metrics } = monitoring;
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  const app = fastify({ forceCloseConnections: true });
  // While Temporal or the service is away, a restart would not help, and would interrupt requests.
  app.get('/healthz', () => ({ status: 'ok' }));
  const problem = askAtMost(
    TIMING.worker.readyForMs,
    createReadiness(() => monitoring.polling),
  );
  app.get('/readyz', async (_request, reply) => {
    const why = await problem();
    return reply.code(why === null ? 200 : 503).send({ status: why ?? 'ok' });
  });
  const measure = askAtMost(TIMING.worker.clockMs, () => measureClock(monitoring));
  app.get('/metrics', async (_request, reply) => {
    // Temporal may take long to answer, so only the next scrape shows the new value.
    void measure();
    const ofSdk = await sdkMetrics.text().catch(() => '');
    const texts = [await metrics.text(), await ofProcess.metrics(), ofSdk];
    return reply.type(metrics.contentType).send(texts.join('\n'));
  });
  try {
    const url = await app.listen({ host, port });
    return { url, close: () => app.close() };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ConfigError(`BELAY_METRICS_ADDRESS: cannot listen on ${host}:${port} (${code}): choose another address`);
  }
}

/** Clocks decide nothing, but people compare the times in logs. */
async function measureClock({ metrics, polling }: Monitoring): Promise<void> {
  const beganMs = Date.now();
  const timeMs = await polling?.nowMs().catch(() => null);
  if (typeof timeMs === 'number') metrics.clockIs((beganMs + Date.now()) / 2 - timeMs);
}

/* A worker takes work while it runs and Temporal keeps seeing its polls. */

/** @returns a function that tells why the worker is not ready, or null */
export function createReadiness(
  polling: () => PollingWorker | null,
  clockMs: () => number = () => performance.now(),
): () => Promise<string | null> {
  let seen: { polledMs: number | null; changedMs: number } = { polledMs: null, changedMs: -Infinity };
  return async () => {
    const current = polling();
    if (current === null) return 'the worker waits for Temporal and for the hosting service';
    const state = current.workers.map((worker) => worker.getState()).find((it) => it !== 'RUNNING');
    if (state !== undefined) return `the worker is ${state.toLowerCase()}`;
    const polledMs = await current.polledMs().catch(() => seen.polledMs);
    const nowMs = clockMs();
    // The clocks may differ, so only a change counts.
    if (polledMs !== seen.polledMs) seen = { polledMs, changedMs: nowMs };
    const isPolling = polledMs !== null && nowMs - seen.changedMs < TIMING.worker.seenWithinMs;
    return isPolling ? null : 'Temporal sees no polls of this worker';
  };
}

/** For people who read only the log. @returns a look, of which every fourth logs that the worker is still not ready */
export function createReadinessLog(problem: () => Promise<string | null>, log: Pick<Logger, 'info' | 'warn'>) {
  let failed = 0;
  return async (): Promise<void> => {
    const why = await problem();
    if (why !== null && failed % TIMING.worker.looksPerLine === 0)
      log.warn(`not ready: ${why}; it continues by itself`);
    if (why === null && failed > 0) log.info('ready again');
    failed = why === null ? 0 : failed + 1;
  };
}

/*
 * The metrics of Temporal's SDK. The SDK serves them itself, so it gets a port on loopback, and the worker passes them
 * on.
 */

const HOST = '127.0.0.1';
const TIMEOUT_MS = 2_000;

export async function createSdkMetrics() {
  // The SDK cannot choose a port itself and report it.
  const address = `${HOST}:${await freePort()}`;
  return {
    // Use the names of Temporal's documentation, with units and `_total`.
    exporter: {
      prometheus: { bindAddress: address, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
    },
    /** Returns the text format of Prometheus. @throws if the SDK does not answer */
    async text(): Promise<string> {
      const answer = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      return answer.text();
    },
  };
}
