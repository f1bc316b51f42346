/** The receiver's HTTP server: webhooks, and what those who run it look at. */
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { createMetrics } from './metrics.ts';
import { labelOf, refuse, webhookRoute, type WebhookOptions } from './webhook-route.ts';

const MAX_BODY_BYTES = 256 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
const JSON_TYPES = /^application\/([\w.-]+\+)?json\s*(;\s*charset="?utf-8"?\s*)?$/i;

export interface ReceiverOptions extends WebhookOptions {
  /** Whether Temporal answers. */
  isReady: () => Promise<boolean>;
  requestTimeoutMs?: number;
}

/** fastify's own refusals. */
const REASON_OF: Record<number, string> = { 413: 'too_big', 415: 'bad_type' };

export function createReceiver(options: ReceiverOptions): FastifyInstance {
  const { sources, isReady, log, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const metrics = createMetrics([...(sources?.keys() ?? [])]);
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs) },
    forceCloseConnections: true,
  });
  app.server.on('clientError', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') metrics.refused('other', 'too_slow');
  });
  app.removeAllContentTypeParsers();
  // As it came: a signature is over bytes.
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const code = error.statusCode ?? 500;
    if (code >= 500) log.error({ reason: error.message }, 'a request broke');
    else metrics.refused(labelOf(request, sources), REASON_OF[code] ?? 'bad_request');
    return refuse(reply, code);
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404));
  webhookRoute(app, options, metrics);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const ready = await isReady();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'Temporal does not answer' });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  return app;
}
