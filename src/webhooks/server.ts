/** The receiver's HTTP server: webhooks, health checks and metrics. */
import type { Server, IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createMetrics, type Metrics } from './metrics.ts';
import { createRefuse, refuseBroken, refuseErrors, refuseExpectations, type Refuse } from './rejections.ts';
import { TIMING } from '../contract/timing.ts';
import { askAtMost } from '../client/within.ts';
import { ConfigError } from '../config/environment/variables.ts';
import type { Logger } from '../process/log.ts';
import type { Configuration } from '../config/file/file-schema.ts';
import type { EventStore } from '../features/events/client-store.ts';
import { createCoalescing } from './coalesce.ts';
import { handleDelivery, type Refusal } from './handle-delivery.ts';
import { createRateCap, DEFAULT_PER_MINUTE, type RateCap } from './rate-cap.ts';
import { UNVERIFIED_SOURCE, type Source } from './sources.ts';
import { isLoopback } from '../config/environment/service-url.ts';

/** Takes only UTF-8, the encoding of JSON. Other parameters are ignored. */
const JSON_TYPES = /^application\/([\w.-]+\+)?json\s*(;\s*(charset="?utf-?8"?|(?!charset)[\w-]+=[^;]*))*$/i;

export interface ReceiverOptions extends WebhookOptions {
  requestTimeoutMs?: number;
  bounds?: ReceiverBounds;
}

export function createReceiver(options: ReceiverOptions): FastifyInstance {
  const { sources, store, log, requestTimeoutMs = TIMING.webhooks.requestMs, bounds = BOUNDS } = options;
  const metrics = createMetrics([...(sources?.keys() ?? ['other'])]);
  const refuse = createRefuse(metrics, log, (request) => labelOf(request, sources));
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: requestTimeoutMs,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs) },
    // A name of any length gets the usual 404.
    routerOptions: { maxParamLength: 65_536, ignoreTrailingSlash: true },
    clientErrorHandler: (error, socket) => refuseBroken(error, socket, metrics),
    frameworkErrors: (_error, request, reply) => void refuse(request, reply, 400, 'bad_request'),
  });
  // While closing, deliveries in progress finish, and each connection closes after its answer.
  let closing = false;
  app.addHook('preClose', async () => void (closing = true));
  app.addHook('onSend', async (_request, reply) => void (closing && reply.header('connection', 'close')));
  app.removeAllContentTypeParsers();
  // Keep the raw bytes, which the signature covers.
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  refuseErrors(app, refuse, log);
  refuseExpectations(app.server, metrics);
  webhookRoute(app, options, { metrics, refuse, admit: boundReceiver(app.server, bounds) });
  app.get('/healthz', async () => ({ status: 'ok' }));
  // Anyone may ask, so answers are shared for a moment.
  const isReady = askAtMost(TIMING.webhooks.readyForMs, () => store.isReady());
  app.get('/readyz', async (_request, reply) => {
    const ready = await isReady();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'Temporal does not answer' });
  });
  app.get('/metrics', async (_request, reply) => {
    metrics.credentialsAre(store.credentials());
    return reply.type(metrics.contentType).send(await metrics.text());
  });
  return app;
}

/*
 * Bounds what the receiver does at once, so that strangers cannot exhaust its memory. The bounds never count by
 * address, because all senders behind a proxy share one.
 */

interface ReceiverBounds {
  connections: number;
  /** Deliveries in progress. Each may be as long as the longest body. */
  bodies: number;
}

/** @returns whether the delivery may be read. If so, it counts until it is answered or gone. */
type Admit = (request: FastifyRequest, reply: FastifyReply) => boolean;

const MAX_BODY_BYTES = 256 * 1024;

const BOUNDS: ReceiverBounds = { connections: 1_024, bodies: 256 };

/** Connections beyond the bound get 503, up to this many times the bound. */
const TIMES_ANSWERED = 2;

function boundReceiver(server: Server, { connections, bodies }: ReceiverBounds): Admit {
  server.maxConnections = connections * TIMES_ANSWERED;
  const open = new Set<Socket>();
  const excess = new WeakSet<Socket>();
  server.on('connection', (socket) => {
    if (open.size >= connections) return void excess.add(socket);
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  let inProgress = 0;

  function admit({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): boolean {
    if (excess.has(socket) || inProgress >= bodies) return false;
    inProgress += 1;
    let isOver = false;
    const end = () => {
      if (!isOver) inProgress -= 1;
      isOver = true;
    };
    response.once('finish', end).once('close', end);
    return true;
  }
  return admit;
}

/*
 * `POST /webhooks/<source>`. Acknowledges a delivery only after Temporal has accepted it. A rejection gives no reason,
 * because the sender may be an attacker.
 */

/** For senders that should deliver again. */
const LATER = { 'retry-after': 10 };

interface WebhookOptions {
  /** Null if none is configured: then every name is accepted. */
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

interface RouteParts {
  metrics: Metrics;
  refuse: Refuse;
  admit: Admit;
}

function webhookRoute(app: FastifyInstance, options: WebhookOptions, { metrics, refuse, admit }: RouteParts): void {
  const { sources, configuration, store, log } = options;
  const coalescing = createCoalescing(store);
  const capOf = rateCaps(sources);
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'HEAD'),
    url: '/webhooks/:source',
    // Reject before the body is read.
    onRequest: async (request, reply) => {
      const source = sourceOf(request, sources);
      if (source === null) return refuse(request, reply, 404, 'no_source');
      if (request.method !== 'POST') return refuse(request, reply.header('allow', 'POST'), 405, 'bad_method');
      metrics.received(labelOf(request, sources));
      if (source.verify === null && isProxied(request.headers)) return refuse(request, reply, 403, 'proxied');
      // Compressed bodies are not supported: a signature covers the bytes as sent.
      if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
        return refuse(request, reply, 415, 'bad_type');
      if (admit(request, reply)) return;
      return refuse(request, reply.headers(LATER).header('connection', 'close'), 503, 'overloaded');
    },
    handler: async (request, reply) => {
      const source = sourceOf(request, sources);
      if (source === null) return refuse(request, reply, 404, 'no_source');
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const delivery = { source, headers: request.headers, body, receivedMs: Date.now() };
      const label = labelOf(request, sources);
      const mustWaitMs = () => capOf(label)(performance.now());
      const handled = await handleDelivery(delivery, configuration, { mustWaitMs, ...coalescing }).catch(
        (error: unknown) => {
          const reason = error instanceof ConfigError ? 'bad_secret' : 'unavailable';
          log.error({ source: source.name, reason, error: String(error) }, 'delivery could not be accepted');
          return { refused: reason } as const;
        },
      );
      if (handled.refused === 'bad_secret' || handled.refused === 'unavailable') {
        return refuse(request, reply.headers(LATER), 503, handled.refused);
      }
      if (handled.refused === 'too_many') {
        const retryAfterS = Math.ceil(handled.retryAfterMs / 1_000);
        return refuse(request, reply.header('retry-after', retryAfterS), 429, handled.refused);
      }
      if (handled.refused !== null) return refuse(request, reply, CODE_OF[handled.refused], handled.refused);
      const { event, id, isNew, isCoalesced } = handled;
      metrics.handled(label, handled);
      log.info({ event: id, kind: event.event.kind, repeated: !isNew, coalesced: isCoalesced }, 'delivery accepted');
      return reply.code(isNew ? 202 : 200).send({ event: id, repeated: !isNew });
    },
  });
}

/** One cap for each configured source. Names that clients make up share one. */
function rateCaps(sources: WebhookOptions['sources']): (label: string) => RateCap {
  const others = createRateCap(DEFAULT_PER_MINUTE);
  const caps = new Map([...(sources?.values() ?? [])].map((it) => [it.name, createRateCap(it.maxPerMinute)]));
  return (label) => caps.get(label) ?? others;
}

/** Label for metrics. Only configured names, because any client can make up new ones. */
function labelOf(request: FastifyRequest, sources: WebhookOptions['sources']): string {
  const name = nameIn(request);
  return sources?.has(name) === true ? name : 'other';
}

function sourceOf(request: FastifyRequest, sources: WebhookOptions['sources']): Source | null {
  const name = nameIn(request);
  if (sources !== null) return sources.get(name) ?? null;
  return /^[\w.-]{1,50}$/.test(name) ? { ...UNVERIFIED_SOURCE, name } : null;
}

function nameIn({ params }: FastifyRequest): string {
  return (params as { source?: string } | undefined)?.source ?? '';
}

/* Recognizes requests that were forwarded to this machine. Pure. */

const ADDED_BY_PROXIES = /^(forwarded|via|x-real-ip|x-forwarded-.+)$/;

/** Some proxies leave no sign: this is a second check, after that of the address the receiver listens on. */
function isProxied(headers: IncomingHttpHeaders): boolean {
  // A web page reaches this machine under a name of its own (DNS rebinding).
  const host = (headers.host ?? '').toLowerCase().replace(/:\d*$/, '');
  return !isLoopback(host) || Object.keys(headers).some((name) => ADDED_BY_PROXIES.test(name));
}
