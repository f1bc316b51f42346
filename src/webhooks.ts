/** Program `belay webhooks`: takes deliveries of webhooks and hands them to Temporal. Holds no API token. */
import { readConfiguration } from './config/load.ts';
import { startWebhooks } from './webhooks/start-receiver.ts';
import { findTemporal } from './config/temporal/find-temporal.ts';
import { untilStopped } from './process/run-until-signal.ts';
import { createLogger } from './process/log.ts';

export async function main(options: { host: string; port: number }): Promise<void> {
  const configuration = await readConfiguration();
  const log = createLogger('info');
  const webhooks = await startWebhooks({ ...options, configuration, log });
  const temporal = findTemporal().connectionOptions.address;
  log.info({ url: webhooks.url, sources: webhooks.sources ?? 'any, unverified', temporal }, 'listening');
  await untilStopped(new Promise<never>(() => undefined));
  log.info('stopping: deliveries under way are let finish');
  await webhooks.close();
}
