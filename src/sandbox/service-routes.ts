/** The four endpoints of the interface. What it doesn't show is answered as sparingly as it allows. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JournalEntry, State } from './state.ts';

interface Answer {
  code: number;
  body: object;
  noted?: Pick<Partial<JournalEntry>, 'began' | 'said'>;
}

export function serviceRoutes(app: FastifyInstance, state: State, token: () => string): void {
  const route = (method: 'GET' | 'POST', url: string, answer: (id: string) => Answer) =>
    app.route<{ Params: { id: string } }>({
      method,
      url,
      handler: async (request, reply) => {
        const authorized = request.headers.authorization === `Bearer ${token()}`;
        const given = authorized ? answer(request.params.id) : { code: 401, body: { message: 'Unauthenticated.' } };
        return send(request, reply, given, authorized);
      },
    });

  function send(request: FastifyRequest, reply: FastifyReply, { code, body, noted }: Answer, authorized: boolean) {
    const key = request.headers['idempotency-key'];
    state.note({
      by: 'api',
      request: `${request.method} ${request.url}`,
      answered: code,
      authorized,
      idempotencyKey: typeof key === 'string' ? key : null,
      ...noted,
    });
    return reply.code(code).send(body);
  }

  route('POST', '/v1/sites/:id/deploy', (siteId) => {
    const { id, kind, target } = state.begin('deployment', siteId, 'api');
    return { code: 200, body: { message: 'Deployment started.' }, noted: { began: { id, kind, target } } };
  });
  route('GET', '/v1/sites/:id/deployments/latest', (siteId) => statusAnswer(state, state.latestDeployment(siteId)));
  route('POST', '/v1/servers/:id/backups', (serverId) => {
    const { id, kind, target } = state.begin('backup', serverId, 'api');
    return { code: 201, body: { id }, noted: { began: { id, kind, target } } };
  });
  route('GET', '/v1/backups/:id', (backupId) => statusAnswer(state, state.backup(backupId)));
}

function statusAnswer(state: State, operation: Parameters<State['status']>[0] | null): Answer {
  if (operation === null) return { code: 404, body: { message: 'Not found.' } };
  const said = state.status(operation);
  return { code: 200, body: { status: said }, noted: { said } };
}
