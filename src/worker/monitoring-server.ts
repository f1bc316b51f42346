/** Serves the health and the metrics of a worker. */
import fastify from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ConfigError } from '../config/environment/config-error.ts';
import { TIMING } from '../contract/timing.ts';
import { askAtMost } from '../process/ask-at-most.ts';
import type { SdkMetrics } from './sdk-metrics.ts';
import type { Monitoring } from './monitoring.ts';
import { createReadiness } from './readiness.ts';

export interface MonitoringServer {
  /** Such as `http://127.0.0.1:9464`. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws ConfigError if it cannot listen there */
export async function serveMonitoring(
  { host, port }: { host: string; port: number },
  monitoring: Monitoring,
  sdkMetrics: SdkMetrics,
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
    // Temporal may take long to answer, so the next scrape shows it.
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
  const begunMs = Date.now();
  const timeMs = await polling?.nowMs().catch(() => null);
  if (typeof timeMs === 'number') metrics.clockIs((begunMs + Date.now()) / 2 - timeMs);
}
