/**
 * `POST /webhooks/<source>`. A delivery is acknowledged only when Temporal has it; what can't be believed or read is
 * refused without a word about why, for the sender may be anybody.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ConfigError } from '../config/environment/environment.ts';
import type { Logger } from '../process/log.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import { eventId } from '../contract/ids/workflow-ids.ts';
import type { EventStore } from '../client/events/event-store.ts';
import { handleDelivery, type Refusal } from './handle-delivery.ts';
import type { Metrics } from './metrics.ts';
import type { Refusals } from './rejections.ts';
import { OPEN_SOURCE, type Source } from './sources.ts';

const RETRY_AFTER_S = 10;

export interface WebhookOptions {
  /** Null: nothing is configured, any name will do. */
  sources: ReadonlyMap<string, Source> | null;
  configuration: Configuration;
  store: EventStore;
  log: Logger;
}

const CODE_OF: Record<Refusal, number> = {
  no_signature: 401,
  bad_signature: 401,
  bad_time: 401,
  empty_body: 400,
  bad_json: 400,
  bad_id: 400,
};

export function webhookRoute(
  app: FastifyInstance,
  options: WebhookOptions,
  metrics: Metrics,
  { refuse }: Refusals,
): void {
  const { sources, configuration, store, log } = options;
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'HEAD'),
    url: '/webhooks/:source',
    // Before the body is read: whoever isn't let in needn't send one.
    onRequest: async (request, reply) => {
      if (sourceOf(request, sources) === null) return refuse(request, reply, 404, 'no_source');
      if (request.method !== 'POST') return refuse(request, reply.header('allow', 'POST'), 405, 'bad_method');
      metrics.received(labelOf(request, sources));
      // What is signed is what was sent, and nobody here unpacks it.
      if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
        return refuse(request, reply, 415, 'bad_type');
    },
    handler: async (request, reply) => {
      const source = sourceOf(request, sources) ?? { ...OPEN_SOURCE, name: '' };
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const delivery = { source, headers: request.headers, body, receivedMs: Date.now() };
      const handled = await handleDelivery(delivery, configuration, store).catch((error: unknown) => {
        const reason = error instanceof ConfigError ? 'bad_secret' : 'unavailable';
        log.error({ source: source.name, reason, error: String(error) }, 'a delivery could not be taken');
        return { refused: reason } as const;
      });
      if (handled.refused === 'bad_secret' || handled.refused === 'unavailable') {
        return refuse(request, reply.header('retry-after', RETRY_AFTER_S), 503, handled.refused);
      }
      if (handled.refused !== null) return refuse(request, reply, CODE_OF[handled.refused], handled.refused);
      const { event, isNew } = handled;
      const label = labelOf(request, sources);
      if (event.verified) metrics.verified(label);
      if (isNew) metrics.taken(label, event.event.kind);
      else metrics.repeated(label);
      const id = eventId(event.source, event.deliveryId);
      log.info({ event: id, kind: event.event.kind, repeated: !isNew }, 'a delivery was taken');
      return reply.code(isNew ? 202 : 200).send({ event: id, repeated: !isNew });
    },
  });
}

/** For metrics: only configured names, for anybody may send any. */
export function labelOf(request: FastifyRequest, sources: WebhookOptions['sources']): string {
  const name = nameIn(request);
  return sources?.has(name) === true ? name : 'other';
}

function sourceOf(request: FastifyRequest, sources: WebhookOptions['sources']): Source | null {
  const name = nameIn(request);
  if (sources !== null) return sources.get(name) ?? null;
  return /^[\w.-]{1,50}$/.test(name) ? { ...OPEN_SOURCE, name } : null;
}

function nameIn({ params }: FastifyRequest): string {
  return (params as { source?: string } | undefined)?.source ?? '';
}
