/** The receiver, listening. */
import { readSources, type Source } from './sources.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import { ConfigError, isLoopback } from '../config/environment/environment.ts';
import type { ConnectOptions } from '../client/connect.ts';
import { openEventStore } from '../client/events/event-store.ts';
import type { Logger } from '../process/log.ts';
import { createReceiver } from './server.ts';

export interface WebhooksOptions {
  host: string;
  /** 0 = any free one, and so is a likely one that is taken. */
  port: number | { likely: number };
  configuration: Configuration;
  /** Default: the configured Temporal. */
  temporal?: ConnectOptions;
  log: Logger;
  /** Beside those that are configured. */
  moreSources?: readonly Source[];
}

export interface Webhooks {
  readonly url: string;
  /** Names that are taken; null: any is, unverified. */
  readonly sources: readonly string[] | null;
  close(): Promise<void>;
}

/** @throws ConfigError */
export async function startWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { host, port, configuration, temporal = {}, log, moreSources = [] } = options;
  const configured = await readSources(configuration);
  for (const source of moreSources) configured.set(source.name, source);
  const sources = configured.size === 0 ? null : configured;
  refuseOpenDoor(host, sources);
  const store = await openEventStore(temporal);
  const app = createReceiver({ sources, configuration, store, log });
  try {
    const url = await listen(app, host, port);
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

/** Whoever reaches it could end waits and wake runs. */
function refuseOpenDoor(host: string, sources: ReadonlyMap<string, Source> | null): void {
  if (isLoopback(host)) return;
  const remedy = 'see docs/events.md, or listen on 127.0.0.1';
  if (sources === null) {
    throw new ConfigError(`--host ${host}: nobody could be verified: name events.sources in belay.yaml, ${remedy}`);
  }
  const open = [...sources.values()].find(({ verify }) => verify === null);
  if (open !== undefined)
    throw new ConfigError(`--host ${host}: events.sources.${open.name} verifies nobody: ${remedy}`);
}

async function listen(
  app: ReturnType<typeof createReceiver>,
  host: string,
  wanted: WebhooksOptions['port'],
): Promise<string> {
  const port = typeof wanted === 'number' ? wanted : wanted.likely;
  return app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE' && typeof wanted !== 'number') return app.listen({ host, port: 0 });
    if (error.code === 'EADDRINUSE')
      throw new ConfigError(`port ${port} is taken: choose another one, 0 is any free one`);
    if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
      throw new ConfigError(`--host ${host}: this machine has no such address`);
    }
    throw error;
  });
}
