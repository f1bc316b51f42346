/** Serves the API's endpoints, and the sites that it deploys. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ENDPOINTS, answerRequest, type Reply, badAnswer, type SandboxAnswer } from './exchange.ts';
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
        return sendReply(
          reply,
          answerRequest(state, endpoint, { path: request.url, id, authorization, idempotencyKey }),
        );
      },
    });
  }
  app.get<{ Params: { id: string } }>(SITE_PAGES, (request, reply) =>
    sendReply(reply, visit(state, request.params.id, request.url)),
  );
}

/* Sends a reply. */

async function sendReply(reply: FastifyReply, { delayMs, answer }: Reply): Promise<unknown> {
  if (delayMs > 0) await sleep(delayMs);
  if (typeof answer === 'object') {
    void reply.code(answer.code).headers(answer.headers);
    return answer.body === null ? reply.send() : reply.send(answer.body);
  }
  reply.hijack();
  if (answer === 'reset') reply.raw.socket?.resetAndDestroy();
  if (answer === 'cut') {
    reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    reply.raw.write('{"status":"comp', () => reply.raw.socket?.destroy());
  }
  return reply;
}

/* What visitors of a site get: a page that shows the commit of the last deployment that completed. */

/** Any path below it. */
const SITE_PAGES = '/sites/:id/*';

export function visit(state: State, id: string, path: string): Reply {
  const fault = state.faults.next('page', id);
  const page = pageOf(state, id);
  const answer = fault === null ? page : badAnswer(fault, page);
  state.note({
    by: 'visitor',
    request: `GET ${path}`,
    answered: fault === null ? page.code : null,
    fault: fault?.answer.kind ?? null,
  });
  return { delayMs: fault?.delayMs ?? 0, answer };
}

function pageOf(state: State, id: string): SandboxAnswer & { body: Record<string, unknown> } {
  const commit = state.deployedCommit({ type: 'site', id });
  if (commit === null) return { code: 404, body: { message: 'Nothing is deployed here.' }, headers: {} };
  return { code: 200, body: { status: 'ok', site: id, commit }, headers: { 'x-commit': commit } };
}
