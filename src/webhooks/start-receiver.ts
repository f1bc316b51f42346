/** Starts the webhook receiver. */
import { readSources, type Source } from './sources.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import { listen, type WantedPort } from '../config/environment/http-server.ts';
import { ConfigError } from '../config/environment/variables.ts';
import { isLoopback } from '../config/environment/service-url.ts';
import type { ConnectOptions } from '../client/connect.ts';
import { openEventStore } from '../features/events/client-store.ts';
import type { Logger } from '../process/log.ts';
import { createReceiver } from './server.ts';

export interface WebhooksOptions {
  host: string;
  port: WantedPort;
  configuration: Configuration;
  /** Accepts senders that prove nothing, and only on loopback. */
  acceptUnverified: boolean;
  /** Default: the Temporal from the environment. */
  temporal?: ConnectOptions;
  /** The identity of the service that sends the events. Default: found as a starter finds it. */
  service?: string;
  log: Logger;
  /** Added to the configured sources. */
  moreSources?: readonly Source[];
}

export interface Webhooks {
  readonly url: string;
  /** The accepted names. Null if every name is accepted, unverified. */
  readonly sources: readonly string[] | null;
  close(): Promise<void>;
}

/** @throws ConfigError */
export async function startWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { host, port, configuration, temporal = {}, service, log, moreSources = [] } = options;
  const configured = await readSources(configuration);
  for (const source of moreSources) configured.set(source.name, source);
  const sources = configured.size === 0 ? null : configured;
  refuseUnverified(options, sources);
  const store = await openEventStore(temporal, service);
  const app = createReceiver({ sources, configuration, store, log });
  try {
    const url = await listen(app, { host, port });
    return {
      url,
      sources: sources === null ? null : [...sources.keys()],
      close: () => app.close().then(() => store.close()),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Anyone who may send unverified deliveries can wake runs and cause notifications. */
function refuseUnverified(
  { host, acceptUnverified }: WebhooksOptions,
  sources: ReadonlyMap<string, Source> | null,
): void {
  const problem = problemOf(sources);
  if (problem === null || (acceptUnverified && isLoopback(host))) return;
  const remedy = acceptUnverified ? 'listen on 127.0.0.1' : 'try it on this machine only, with --unverified';
  const where = isLoopback(host) ? '' : `--host ${host}: `;
  throw new ConfigError(`${where}${problem}: see docs/reference/events.md, or ${remedy}`);
}

/** Returns why not every sender is verified. Null if all are. */
function problemOf(sources: ReadonlyMap<string, Source> | null): string | null {
  if (sources === null) return 'senders cannot be verified without events.sources in belay.yaml';
  const open = [...sources.values()].find(({ verify }) => verify === null);
  return open === undefined ? null : `events.sources.${open.name} has verify: none`;
}
