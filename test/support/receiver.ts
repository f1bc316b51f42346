/** The webhook receiver, and a sender that signs for real. */
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { Configuration } from '../../src/config/file/file-schema.ts';
import { startWebhooks, type Webhooks } from '../../src/webhooks/start-receiver.ts';
import { atEnd } from './at-end.ts';
import { tempFolder } from './temporal.ts';
import { log, TASK_QUEUE } from './world.ts';

export const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

export interface Receiver {
  url: string;
  webhooks: Webhooks;
  /** Delivers a body to the source `panel`, signed. */
  deliver(body: object | string, options?: DeliverOptions): Promise<Response>;
  /** The lines of /metrics without comments. */
  metrics(): Promise<string[]>;
}

export interface DeliverOptions {
  id?: string;
  source?: string;
  secret?: string;
  /** When the sender says that it sends. */
  at?: Date;
  headers?: Record<string, string>;
}

/** A file that holds a secret, as configuration names it. */
export async function secretFile(text: string): Promise<{ file: string }> {
  const file = join(await tempFolder(), 'secret');
  writeFileSync(file, `${text}\n`);
  return { file };
}

/** With the source `panel`, which signs by Standard Webhooks, and the source `open`, which proves nothing. */
export async function startReceiver(
  { address, taskQueue = TASK_QUEUE }: { address: string; taskQueue?: string },
  { events, ...rest }: Configuration = {},
): Promise<Receiver> {
  const panel = { verify: 'standard-webhooks' as const, secrets: [await secretFile(SECRET)] };
  const sources = { panel, open: { verify: 'none' as const }, ...events?.sources };
  const configuration = { ...rest, events: { ...events, sources } };
  const temporal = { address, taskQueue };
  const webhooks = await startWebhooks({ host: '127.0.0.1', port: 0, configuration, temporal, log });
  atEnd(() => webhooks.close());
  const { url } = webhooks;
  return {
    url,
    webhooks,
    deliver: (body, options) => deliver(url, body, options),
    metrics: async () =>
      (await (await fetch(`${url}/metrics`)).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#')),
  };
}

async function deliver(url: string, body: object | string, options: DeliverOptions = {}): Promise<Response> {
  const { source = 'panel', headers = {}, ...signing } = options;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${url}/webhooks/${source}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signed(text, signing), ...headers },
    body: text,
  });
}

/** The headers of Standard Webhooks. */
export function signed(
  text: string,
  { id = `msg_${randomUUID()}`, secret = SECRET, at = new Date() }: Omit<DeliverOptions, 'source' | 'headers'> = {},
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, text),
  };
}
