/** Program `belay webhooks`: takes deliveries of webhooks and hands them to Temporal. Holds no API token. */
import { readConfiguration } from './configuration/read.ts';
import { startWebhooks } from './events/start.ts';
import { findTemporal } from './temporal.ts';
import { untilStopped } from './until-stopped.ts';
import { createLogger } from './log.ts';

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
