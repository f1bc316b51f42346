/** Program `belay webhooks`: receives webhooks and passes them to Temporal. It has no API token. */
import { readConfiguration } from './config/load.ts';
import { startWebhooks } from './webhooks/start-receiver.ts';
import { findTemporal } from './config/find-temporal.ts';
import { runUntilSignal } from './process/signals.ts';
import { createLogger } from './process/log.ts';

interface WebhooksCommand {
  host: string;
  port: number;
  unverified?: boolean;
}

export async function runWebhooks({ host, port, unverified = false }: WebhooksCommand): Promise<void> {
  const configuration = await readConfiguration();
  const log = createLogger('info');
  const webhooks = await startWebhooks({ host, port, acceptUnverified: unverified, configuration, log });
  const temporal = findTemporal().connectionOptions.address;
  log.info({ url: webhooks.url, sources: webhooks.sources ?? 'any, unverified', temporal }, 'listening');
  await runUntilSignal();
  log.info('stopping: waiting for deliveries in progress');
  await webhooks.close();
}
