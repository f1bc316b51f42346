/** Serves the API's endpoints, and the sites that it deploys. */
import type { FastifyInstance } from 'fastify';
import { ENDPOINTS, exchange } from './exchange.ts';
import { sendReply } from './reply.ts';
import { SITE_PAGES, visit } from './site-pages.ts';
import type { State } from './state.ts';

export function serviceRoutes(app: FastifyInstance, state: State): void {
  for (const endpoint of ENDPOINTS) {
    app.route<{ Params: { id: string } }>({
      method: endpoint.method,
      url: endpoint.path,
      handler: (request, reply) => {
        const { authorization = null, 'idempotency-key': key } = request.headers;
        const idempotencyKey = typeof key === 'string' ? key : null;
        const { id } = request.params;
        return sendReply(reply, exchange(state, endpoint, { path: request.url, id, authorization, idempotencyKey }));
      },
    });
  }
  app.get<{ Params: { id: string } }>(SITE_PAGES, (request, reply) =>
    sendReply(reply, visit(state, request.params.id, request.url)),
  );
}
