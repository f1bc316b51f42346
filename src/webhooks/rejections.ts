/** How requests are refused: one short body for each status, without a word about why, and a count of the reasons. */
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../process/log.ts';
import type { Metrics } from './metrics.ts';

export interface Refusals {
  refuse: (request: FastifyRequest, reply: FastifyReply, code: number, reason: string) => FastifyReply;
}

/** fastify's own. */
const REASON_OF: Record<number, string> = { 413: 'too_big', 415: 'bad_type' };

/** @param labelOf the source of a request as metrics may name it */
export function createRefusals(metrics: Metrics, log: Logger, labelOf: (request: FastifyRequest) => string): Refusals {
  return {
    refuse(request, reply, code, reason) {
      const source = labelOf(request);
      metrics.refused(source, reason);
      log.info({ source, reason }, 'a delivery was refused');
      return reply.code(code).send(bodyOf(code));
    },
  };
}

/** Refuses what fastify itself will not have. */
export function refuseErrors(app: FastifyInstance, { refuse }: Refusals, log: Logger): void {
  app.setNotFoundHandler((request, reply) =>
    app.supportedMethods.includes(request.method)
      ? refuse(request, reply, 404, 'no_source')
      : refuse(request, reply.header('allow', 'POST'), 405, 'bad_method'),
  );
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const code = error.statusCode ?? 500;
    // Who hung up hears nothing; who was too slow was counted.
    if (error.code === 'ECONNRESET') return reply.code(code).send(bodyOf(code));
    if (code >= 500) log.error({ reason: error.message }, 'a request broke');
    return refuse(request, reply, code, code >= 500 ? 'broken' : (REASON_OF[code] ?? 'bad_request'));
  });
}

/** Refuses what isn't even a request of HTTP, or isn't whole in time. */
export function refuseBroken(error: NodeJS.ErrnoException, socket: Socket, metrics: Metrics): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const code = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }[error.code ?? ''] ?? 400;
  metrics.refused('other', code === 408 ? 'too_slow' : 'bad_request');
  const body = JSON.stringify(bodyOf(code));
  const head = `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\ncontent-type: application/json\r\nconnection: close`;
  if (socket.writable) socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  // Else the rest of it is one more error.
  socket.destroy(error);
}

/** Refuses an `Expect` that isn't met here; node would answer it in silence. */
export function refuseExpectations(server: Server, metrics: Metrics): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    metrics.refused('other', 'bad_request');
    const body = JSON.stringify(bodyOf(417));
    const headers = { 'content-type': 'application/json', connection: 'close', 'content-length': body.length };
    response.writeHead(417, headers).end(body);
  });
}

function bodyOf(code: number): { error: string | undefined } {
  return { error: STATUS_CODES[code]?.toLowerCase() };
}
