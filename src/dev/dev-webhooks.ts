/** The webhook receiver of `belay dev`, to which its sandbox sends. */
import { randomBytes } from 'node:crypto';
import type { Logger } from '../process/log.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import { standardSource } from '../webhooks/sources.ts';
import { startWebhooks, type Webhooks, type WebhooksOptions } from '../webhooks/start-receiver.ts';
import type { Sandbox } from '../sandbox/server.ts';
import type { ConnectOptions } from '../starter.ts';

export interface ReceiverOptions {
  port: WebhooksOptions['port'];
  configuration: Configuration;
  temporal: ConnectOptions;
  sandbox: Sandbox | null;
  log: Logger;
}

export async function startReceiver(options: ReceiverOptions): Promise<Webhooks> {
  const { port, configuration, temporal, sandbox, log } = options;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhooks = await startWebhooks({
    host: '127.0.0.1',
    port,
    configuration,
    temporal,
    log,
    moreSources:
      sandbox === null ? [] : [standardSource('sandbox', () => Promise.resolve({ usable: [secret], problem: null }))],
  });
  sandbox?.subscribe({ url: `${webhooks.url}/webhooks/sandbox`, secret });
  return webhooks;
}
