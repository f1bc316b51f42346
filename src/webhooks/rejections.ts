/** Rejects requests with a short body that gives no reason. The reasons are logged and counted. */
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../process/log.ts';
import type { Metrics } from './metrics.ts';

export type Refuse = (request: FastifyRequest, reply: FastifyReply, code: number, reason: string) => FastifyReply;

/** Fastify sets these status codes. */
const REASON_OF: Record<number, string> = { 413: 'too_big', 415: 'bad_type' };

/** @param labelOf returns the label of a request in metrics */
export const createRefuse =
  (metrics: Metrics, log: Logger, labelOf: (request: FastifyRequest) => string): Refuse =>
  (request, reply, code, reason) => {
    const source = labelOf(request);
    metrics.rejected(source, reason);
    log.info({ source, reason }, 'delivery rejected');
    return reply.code(code).send(bodyOf(code));
  };

export function refuseErrors(app: FastifyInstance, refuse: Refuse, log: Logger): void {
  app.setNotFoundHandler((request, reply) =>
    app.supportedMethods.includes(request.method)
      ? refuse(request, reply, 404, 'no_source')
      : refuse(request, reply.header('allow', 'POST'), 405, 'bad_method'),
  );
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const code = error.statusCode ?? 500;
    // The client closed the connection, or refuseBroken has already counted the request as too slow.
    if (error.code === 'ECONNRESET') return reply.code(code).send(bodyOf(code));
    if (code >= 500) log.error({ reason: error.message }, 'request failed');
    return refuse(request, reply, code, code >= 500 ? 'broken' : (REASON_OF[code] ?? 'bad_request'));
  });
}

/** Answers connections that send invalid HTTP or no complete request in time. */
export function refuseBroken(error: NodeJS.ErrnoException, socket: Socket, metrics: Metrics): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const code = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }[error.code ?? ''] ?? 400;
  metrics.rejected('other', code === 408 ? 'too_slow' : 'bad_request');
  const body = JSON.stringify(bodyOf(code));
  const head = `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\ncontent-type: application/json\r\nconnection: close`;
  if (socket.writable) socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  // Otherwise the rest of the request causes another error.
  socket.destroy(error);
}

/** Rejects an unsupported `Expect` header here, because Node would answer it without a log line or count. */
export function refuseExpectations(server: Server, metrics: Metrics): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    metrics.rejected('other', 'bad_request');
    const body = JSON.stringify(bodyOf(417));
    const headers = { 'content-type': 'application/json', connection: 'close', 'content-length': body.length };
    response.writeHead(417, headers).end(body);
  });
}

function bodyOf(code: number): { error: string | undefined } {
  return { error: STATUS_CODES[code]?.toLowerCase() };
}
