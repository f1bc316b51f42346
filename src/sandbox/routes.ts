/** Serves the API's endpoints, and the sites that it deploys. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Note, State, SandboxOperation, Shown } from './state.ts';
import { faultOf, hasEffect, type Fault, type Route } from './faults.ts';
import type { Resource } from './script.ts';

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

/* Visitors of a site get a page that shows the commit of the last completed deployment. */

/** Any path below the site. */
const SITE_PAGES = '/sites/:id/*';

export function visit(state: State, id: string, path: string): Reply {
  const fault = faultOf(state.faults, 'page', id);
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

/*
 * The API's four endpoints, and those of apps, which are not documented: here they are like those of sites. Answers
 * contain only the documented fields. No I/O: the request changes the state at once, and the reply is a value.
 */

export interface ApiEndpoint {
  route: Route;
  method: 'GET' | 'POST';
  /** With `:id` in it. */
  path: string;
  act: (state: State, id: string) => NotedAnswer;
}

export interface ApiRequest {
  /** As it was sent, for the journal. */
  path: string;
  id: string;
  /** The header, or null. */
  authorization: string | null;
  idempotencyKey: string | null;
}

/** What the caller gets `delayMs` after the request took effect. */
export interface Reply {
  delayMs: number;
  /** `cut` ends the connection inside of the body, `reset` before the answer; with `none`, the caller waits for ever. */
  answer: SandboxAnswer | 'cut' | 'reset' | 'none';
}

export interface SandboxAnswer {
  code: number;
  /** An object is sent as JSON, a text as it is, and null as no body. */
  body: Record<string, unknown> | string | null;
  headers: Record<string, string>;
}

interface JsonAnswer {
  code: number;
  body: Record<string, unknown>;
}

type NotedAnswer = JsonAnswer & { noted?: Pick<Note, 'began' | 'said' | 'shows'> };

const UNAUTHENTICATED: NotedAnswer = { code: 401, body: { message: 'Unauthenticated.' } };
const NOT_FOUND: NotedAnswer = { code: 404, body: { message: 'Not found.' } };
const TOO_MANY: NotedAnswer = { code: 429, body: { message: 'Too many requests.' } };
const STARTED = { message: 'Deployment started.' };

export const ENDPOINTS: readonly ApiEndpoint[] = [
  ...(['site', 'app'] as const).flatMap((type): ApiEndpoint[] => [
    {
      route: 'deploy',
      method: 'POST',
      path: `/v1/${type}s/:id/deploy`,
      act: (state, id) =>
        begin(state, { type, id }, (begun) => ({ code: 200, body: { ...STARTED, ...state.triggerIds(begun) } })),
    },
    {
      route: 'latest',
      method: 'GET',
      path: `/v1/${type}s/:id/deployments/latest`,
      act: (state, id) => statusAnswer(state.readLatest({ type, id })),
    },
  ]),
  {
    route: 'create-backup',
    method: 'POST',
    path: '/v1/servers/:id/backups',
    act: (state, id) =>
      begin(state, { type: 'server', id }, ({ id: backupId }) => ({ code: 201, body: { id: backupId } })),
  },
  {
    route: 'backup',
    method: 'GET',
    path: '/v1/backups/:id',
    act(state, id) {
      const backup = state.backup(id);
      return statusAnswer(backup === null ? null : { id, status: state.status(backup), ids: {} });
    },
  },
];

/** Carries out a request and notes it in the journal. */
export function answerRequest(state: State, endpoint: ApiEndpoint, request: ApiRequest): Reply {
  const { path, id, authorization, idempotencyKey } = request;
  const authorized = authorization === `Bearer ${state.token}`;
  const fault = authorized ? faultOf(state.faults, endpoint.route, id) : null;
  const note = (given: NotedAnswer | null, answered: number | null, answer: Reply['answer']) =>
    state.note({
      by: 'api',
      request: `${endpoint.method} ${path}`,
      answered,
      authorized,
      idempotencyKey,
      fault: fault?.answer.kind ?? null,
      asksToWaitMs: asksToWaitMs(answer),
      ...given?.noted,
    });
  if (fault !== null) {
    const truth = endpoint.method === 'GET' || hasEffect(fault) ? endpoint.act(state, id) : null;
    const answer = badAnswer(fault, truth);
    note(truth, null, answer);
    return { delayMs: fault.delayMs ?? 0, answer };
  }
  const given = authorized ? actWithinLimit(state, endpoint, id) : UNAUTHENTICATED;
  const answer = { code: given.code, body: given.body, headers: {} };
  note(given, given.code, answer);
  return { delayMs: 0, answer };
}

const actWithinLimit = (state: State, endpoint: ApiEndpoint, id: string): NotedAnswer =>
  state.countRequest() ? endpoint.act(state, id) : TOO_MANY;

function asksToWaitMs(answer: Reply['answer']): number | null {
  if (typeof answer === 'string') return null;
  const { code, headers } = answer;
  const retryAfter = headers['retry-after'];
  if (code !== 429 && (code !== 503 || retryAfter === undefined)) return null;
  return 1_000 * (Number(retryAfter) || 0);
}

/** @param truth the answer without the fault; null if the request had no effect */
function badAnswer({ answer }: Fault, truth: JsonAnswer | null): Reply['answer'] {
  const [code, body] = [truth?.code ?? 500, truth?.body ?? null];
  switch (answer.kind) {
    case 'status': {
      const headers: Record<string, string> =
        answer.retryAfter === undefined ? {} : { 'retry-after': answer.retryAfter };
      return { code: answer.code, body: { message: 'The sandbox fails this request on purpose.' }, headers };
    }
    case 'body':
      return { code: answer.code, body: answer.text, headers: { 'content-type': answer.type } };
    case 'redirect':
      return { code: 302, body: null, headers: { location: answer.location } };
    case 'true':
      return { code, body, headers: {} };
    case 'numeric_id':
      return { code, body: { ...body, id: Number(body?.id) }, headers: {} };
    default:
      return answer.kind;
  }
}

function begin(state: State, on: Resource, answer: (began: SandboxOperation) => JsonAnswer): NotedAnswer {
  if (state.isRemoved(on)) return NOT_FOUND;
  const began = state.begin(on);
  return { ...answer(began), noted: { began } };
}

function statusAnswer(shown: Shown | null): NotedAnswer {
  if (shown === null) return NOT_FOUND;
  const { id, status, ids } = shown;
  return { code: 200, body: { status, ...ids }, noted: { said: status, shows: id } };
}
