/** The webhook receiver, and a sender that signs its deliveries. */
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { Configuration } from '../../src/config/file/file-schema.ts';
import { definedFields } from '../../src/contract/plain-object.ts';
import { startWebhooks } from '../../src/webhooks/start-receiver.ts';
import { atEnd } from './at-end.ts';
import { standInReceiver, type Options } from './stand-in-receiver.ts';
import { MAPPING } from './mapping.ts';
import { tempFolder } from './temporal.ts';
import { log } from './runtime.ts';
import { TASK_QUEUE } from './world.ts';

export const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

export interface Receiver {
  url: string;
  /** Delivers a body to the source `panel`, signed. */
  deliver(body: object | string, options?: DeliverOptions): Promise<Response>;
  /** The lines of /metrics without comments. */
  metrics(): Promise<string[]>;
}

export interface DeliverOptions {
  id?: string;
  source?: string;
  secret?: string;
  /** The time that the sender claims. */
  at?: Date;
  headers?: Record<string, string>;
}

/** A secret file, as the configuration names it. */
export async function secretFile(text: string): Promise<{ file: string }> {
  const file = join(await tempFolder(), 'secret');
  writeFileSync(file, `${text}\n`);
  return { file };
}

/**
 * Starts it with the sources `panel` and `mapped`, signed by Standard Webhooks, and the unverified source `open`. Only
 * `mapped` names fields and words.
 */
export async function startReceiver(
  { address, namespace, taskQueue = TASK_QUEUE }: { address: string; namespace: string; taskQueue?: string },
  given: Configuration = {},
  service?: string,
): Promise<Receiver> {
  const configuration = await withSources(given);
  const temporal = { address, namespace, taskQueue };
  const webhooks = await startWebhooks({
    ...{ host: '127.0.0.1', port: 0, acceptUnverified: true },
    ...{ configuration, temporal, log },
    ...definedFields({ service }),
  });
  atEnd(() => webhooks.close());
  return receiverAt(webhooks.url);
}

/** The same without Temporal. @returns also what it would have stored */
export async function startLoneReceiver(given: Configuration = {}, options: Options = {}) {
  const { app, stored } = await standInReceiver(await withSources(given), options);
  atEnd(() => app.close());
  return { ...receiverAt(await app.listen({ host: '127.0.0.1', port: 0 })), stored };
}

async function withSources({ events, ...rest }: Configuration): Promise<Configuration> {
  // Tests of floods are about what comes after the cap.
  const panel = { verify: 'standard-webhooks' as const, secrets: [await secretFile(SECRET)], maxPerMinute: 60_000 };
  const sources = { panel, mapped: { ...panel, ...MAPPING }, open: { verify: 'none' as const }, ...events?.sources };
  return { ...rest, events: { ...events, sources } };
}

const receiverAt = (url: string): Receiver => ({
  url,
  deliver: (body, options) => deliver(url, body, options),
  metrics: async () =>
    (await (await fetch(`${url}/metrics`)).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#')),
});

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
