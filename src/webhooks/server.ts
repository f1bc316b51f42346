/** The receiver's HTTP server: webhooks, health checks and metrics. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createMetrics } from './metrics.ts';
import { createRefusals, refuseBroken, refuseErrors, refuseExpectations } from './rejections.ts';
import { labelOf, webhookRoute, type WebhookOptions } from './delivery-route.ts';
import { TIMING } from '../contract/timing.ts';
import { askAtMost } from '../process/ask-at-most.ts';

/** Only UTF-8, the encoding of JSON; other parameters are ignored. */
const JSON_TYPES = /^application\/([\w.-]+\+)?json\s*(;\s*(charset="?utf-?8"?|(?!charset)[\w-]+=[^;]*))*$/i;

export interface ReceiverOptions extends WebhookOptions {
  requestTimeoutMs?: number;
  bounds?: ReceiverBounds;
}

export function createReceiver(options: ReceiverOptions): FastifyInstance {
  const { sources, store, log, requestTimeoutMs = TIMING.webhooks.requestMs, bounds = BOUNDS } = options;
  const metrics = createMetrics([...(sources?.keys() ?? ['other'])]);
  const refusals = createRefusals(metrics, log, (request) => labelOf(request, sources));
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: requestTimeoutMs,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs) },
    // A name of any length gets the usual 404.
    routerOptions: { maxParamLength: 65_536, ignoreTrailingSlash: true },
    clientErrorHandler: (error, socket) => refuseBroken(error, socket, metrics),
    frameworkErrors: (_error, request, reply) => void refusals.refuse(request, reply, 400, 'bad_request'),
  });
  // While closing, deliveries in progress finish, and each connection closes after its answer.
  let closing = false;
  app.addHook('preClose', async () => void (closing = true));
  app.addHook('onSend', async (_request, reply) => void (closing && reply.header('connection', 'close')));
  app.removeAllContentTypeParsers();
  // Keep the raw bytes, which the signature covers.
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  refuseErrors(app, refusals, log);
  refuseExpectations(app.server, metrics);
  webhookRoute(app, options, { metrics, refusals, admit: boundReceiver(app.server, bounds) });
  app.get('/healthz', async () => ({ status: 'ok' }));
  // Anyone may ask.
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
 * Bounds what the receiver does at once, so that strangers cannot exhaust its memory. Never by address: behind a proxy,
 * all senders share one.
 */

interface ReceiverBounds {
  connections: number;
  /** Deliveries in progress. Each may be as long as the longest body. */
  bodies: number;
}

/** @returns whether a delivery may be read. If so, it counts until it is answered or gone. */
type Admit = (request: FastifyRequest, reply: FastifyReply) => boolean;

const MAX_BODY_BYTES = 256 * 1024;

const BOUNDS: ReceiverBounds = { connections: 1_024, bodies: 256 };

/** Connections beyond the bound get 503, as long as they are not more than this many times the bound. */
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
