/** The webhook receiver of `belay dev`, which its sandbox sends events to. */
import { randomBytes } from 'node:crypto';
import type { Logger } from '../process/log.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import { standardSource } from '../webhooks/sources.ts';
import { startWebhooks, type Webhooks, type WebhooksOptions } from '../webhooks/start-receiver.ts';
import type { Sandbox } from '../sandbox/server.ts';
import type { ConnectOptions } from '../client/session.ts';

export interface ReceiverOptions {
  port: WebhooksOptions['port'];
  configuration: Configuration;
  temporal: ConnectOptions;
  /** The identity of the service. */
  service: string;
  sandbox: Sandbox | null;
  log: Logger;
}

/** What the bodies of the sandbox mean. */
const SANDBOX_EVENTS = {
  fields: { server: 'data.server_id', site: 'data.site_id', backup: 'data.backup_id' },
  kinds: { 'backup.started': ['backup.started'] },
};

export async function startReceiver(options: ReceiverOptions): Promise<Webhooks> {
  const { port, configuration, temporal, service, sandbox, log } = options;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhooks = await startWebhooks({
    host: '127.0.0.1',
    acceptUnverified: true,
    port,
    configuration,
    temporal,
    service,
    log,
    moreSources:
      sandbox === null
        ? []
        : [standardSource('sandbox', () => Promise.resolve({ usable: [secret], problem: null }), SANDBOX_EVENTS)],
  });
  sandbox?.subscribe({ url: `${webhooks.url}/webhooks/sandbox`, secret });
  return webhooks;
}
