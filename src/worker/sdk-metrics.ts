/** The metrics of Temporal's SDK. It serves them itself, so it gets a port on loopback, and the worker passes them on. */
import type { MetricsExporterConfig } from '@temporalio/worker';
import { freePort } from '../process/free-port.ts';

const HOST = '127.0.0.1';
const TIMEOUT_MS = 2_000;

export interface SdkMetrics {
  /** For the SDK's runtime. */
  readonly exporter: MetricsExporterConfig;
  /** In the text format of Prometheus. @throws if the SDK does not answer */
  text(): Promise<string>;
}

export async function createSdkMetrics(): Promise<SdkMetrics> {
  // The SDK cannot choose one itself and report it.
  const address = `${HOST}:${await freePort()}`;
  return {
    // The names that Temporal's documentation uses: with units and `_total`.
    exporter: {
      prometheus: { bindAddress: address, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
    },
    async text() {
      const answer = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      return answer.text();
    },
  };
}
