/** A codec server: decrypts payloads for the Temporal UI and CLI, and encrypts those that people enter there. */
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { PayloadCodec } from '@temporalio/common';
import { ConfigError } from '../config/environment/config-error.ts';
import { TIMING } from '../contract/timing.ts';
import type { Logger } from '../process/log.ts';
import { PayloadError } from './payload-error.ts';
import { guard, type Guards } from './guards.ts';
import { payloadsSchema, toJson } from './payload-json.ts';

export interface CodecServerOptions extends Guards {
  codec: PayloadCodec;
  log: Pick<Logger, 'warn'>;
}

/** Four times the largest message of Temporal, which becomes a third larger in base64. */
const MAX_BODY_BYTES = 16 * 2 ** 20;

export function createCodecServer({ codec, log, ...guards }: CodecServerOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: TIMING.codecServer.requestMs,
    forceCloseConnections: true,
  });
  app.removeContentTypeParser('text/plain');
  guard(app, guards);
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const code = error instanceof PayloadError ? 400 : (error.statusCode ?? 500);
    // An error of a library may quote the body.
    const problem = error instanceof PayloadError || error instanceof ConfigError ? error.message : error.name;
    log.warn({ path: request.url, code, problem }, code < 500 ? 'rejected a request' : 'could not answer a request');
    return reply.code(code).send({ message: code < 500 ? error.message : 'see the log of the codec server' });
  });
  for (const direction of ['encode', 'decode'] as const) {
    app.post(`/${direction}`, async (request, reply) => {
      const body = payloadsSchema.safeParse(request.body);
      if (!body.success) return reply.code(400).send({ message: 'not {"payloads": […]} with bytes in base64' });
      return toJson(await codec[direction](body.data.payloads));
    });
  }
  app.get('/healthz', async () => ({ status: 'ok' }));
  return app;
}
