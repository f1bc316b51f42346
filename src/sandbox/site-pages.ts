/** What visitors of a site get: a page that shows the commit of the last deployment that completed. */
import { badAnswer, type Answer, type Reply } from './exchange.ts';
import type { State } from './state.ts';

/** Any path below it. */
export const SITE_PAGES = '/sites/:id/*';

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

function pageOf(state: State, id: string): Answer & { body: Record<string, unknown> } {
  const commit = state.deployedCommit({ type: 'site', id });
  if (commit === null) return { code: 404, body: { message: 'Nothing is deployed here.' }, headers: {} };
  return { code: 200, body: { status: 'ok', site: id, commit }, headers: { 'x-commit': commit } };
}
