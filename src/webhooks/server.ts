/** The receiver's HTTP server: webhooks, and what those who run it look at. */
import fastify, { type FastifyInstance } from 'fastify';
import { createMetrics } from './metrics.ts';
import { createRefusals, refuseBroken, refuseErrors, refuseExpectations } from './rejections.ts';
import { labelOf, webhookRoute, type WebhookOptions } from './delivery-route.ts';

const MAX_BODY_BYTES = 256 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
/** A charset is UTF-8, which JSON is in; other parameters mean nothing here. */
const JSON_TYPES = /^application\/([\w.-]+\+)?json\s*(;\s*(charset="?utf-?8"?|(?!charset)[\w-]+=[^;]*))*$/i;

export interface ReceiverOptions extends WebhookOptions {
  requestTimeoutMs?: number;
}

export function createReceiver(options: ReceiverOptions): FastifyInstance {
  const { sources, store, log, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const metrics = createMetrics([...(sources?.keys() ?? ['other'])]);
  const refusals = createRefusals(metrics, log, (request) => labelOf(request, sources));
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs) },
    // A name that is too long is one that isn't there.
    routerOptions: { maxParamLength: 65_536 },
    clientErrorHandler: (error, socket) => refuseBroken(error, socket, metrics),
    frameworkErrors: (_error, request, reply) => void refusals.refuse(request, reply, 400, 'bad_request'),
  });
  // Deliveries under way are let finish, and no connection outlives its answer.
  let closing = false;
  app.addHook('preClose', async () => void (closing = true));
  app.addHook('onSend', async (_request, reply) => void (closing && reply.header('connection', 'close')));
  app.removeAllContentTypeParsers();
  // As it came: a signature is over bytes.
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  refuseErrors(app, refusals, log);
  refuseExpectations(app.server, metrics);
  webhookRoute(app, options, metrics, refusals);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const ready = await store.isReady();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'Temporal does not answer' });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  return app;
}
