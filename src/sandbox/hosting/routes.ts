/** The four endpoints of the interface. What it doesn't show is answered as sparingly as it allows. */
import type { FastifyInstance } from 'fastify';
import { answerBadly, type Answer } from './reply.ts';
import { hasEffect, type Route } from './faults.ts';
import type { Kind } from './script.ts';
import type { JournalEntry, State } from './state.ts';

type Given = Answer & { noted?: Pick<Partial<JournalEntry>, 'began' | 'said'> };

const UNAUTHENTICATED: Given = { code: 401, body: { message: 'Unauthenticated.' } };
const NOT_FOUND: Given = { code: 404, body: { message: 'Not found.' } };
const TOO_MANY: Given = { code: 429, body: { message: 'Too many requests.' } };

export function serviceRoutes(app: FastifyInstance, state: State): void {
  const add = (route: Route, method: 'GET' | 'POST', url: string, act: (id: string) => Given) =>
    app.route<{ Params: { id: string } }>({
      method,
      url,
      handler: async (request, reply) => {
        const { id } = request.params;
        const authorized = request.headers.authorization === `Bearer ${state.token}`;
        const fault = authorized ? state.faults.next(route, id) : null;
        const key = request.headers['idempotency-key'];
        const note = (given: Given | null, answered: number | null) =>
          state.note({
            by: 'api',
            request: `${request.method} ${request.url}`,
            answered,
            authorized,
            idempotencyKey: typeof key === 'string' ? key : null,
            fault: fault?.answer.kind ?? null,
            ...given?.noted,
          });
        if (fault !== null) {
          const truth = method === 'GET' || hasEffect(fault) ? act(id) : null;
          note(truth, null);
          return answerBadly(reply, fault, truth);
        }
        const given = authorized ? (state.isTooMuch() ? TOO_MANY : act(id)) : UNAUTHENTICATED;
        note(given, given.code);
        return reply.code(given.code).send(given.body);
      },
    });

  const begin = (kind: Kind, target: string, answer: (id: string) => Answer): Given => {
    if (state.isRemoved(kind, target)) return NOT_FOUND;
    const { id } = state.begin(kind, target, 'api');
    return { ...answer(id), noted: { began: { id, kind, target } } };
  };
  add('deploy', 'POST', '/v1/sites/:id/deploy', (siteId) =>
    begin('deployment', siteId, () => ({ code: 200, body: { message: 'Deployment started.' } })),
  );
  add('latest', 'GET', '/v1/sites/:id/deployments/latest', (siteId) =>
    statusAnswer(state, state.latestDeployment(siteId)),
  );
  add('create-backup', 'POST', '/v1/servers/:id/backups', (serverId) =>
    begin('backup', serverId, (id) => ({ code: 201, body: { id } })),
  );
  add('backup', 'GET', '/v1/backups/:id', (backupId) => statusAnswer(state, state.backup(backupId)));
}

function statusAnswer(state: State, operation: ReturnType<State['backup']>): Given {
  if (operation === null) return NOT_FOUND;
  const said = state.status(operation);
  return { code: 200, body: { status: said }, noted: { said } };
}
