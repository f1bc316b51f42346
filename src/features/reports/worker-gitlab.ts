/** Reports to GitLab how a target of a run stands, as a status of the commit. */
import type { ReportedState } from './shapes.ts';
import type { RepositoryReport } from './worker-github.ts';
import { NotTaken, send } from '../notifications/worker-post.ts';

/** GitLab's words, the same for commits and deployments. */
export const GITLAB_STATUS: Record<ReportedState, string> = {
  waiting: 'pending',
  begun: 'running',
  completed: 'success',
  failed: 'failed',
  unclear: 'failed',
  cancelled: 'canceled',
  refused: 'failed',
};

export async function reportToGitlab(report: RepositoryReport): Promise<void> {
  const { commit, context, state, description, link } = report;
  const linked = link === null ? {} : { target_url: link };
  const status = { state: GITLAB_STATUS[state], name: context, description, ...linked };
  await callGitlab(report, 'POST', `statuses/${commit}`, status).catch((error: unknown) => {
    if (!isKnownAlready(error)) throw error;
  });
}

/** It refuses to go from a state to the same one, or from running back to pending: what it shows stays. */
const isKnownAlready = (error: unknown): boolean =>
  error instanceof NotTaken && error.status === 400 && error.body.includes('Cannot transition status');

/** @returns what it answers, as text. @throws NotTaken */
export async function callGitlab(
  { api, repository, token }: RepositoryReport,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  content?: object,
): Promise<string> {
  const body = content === undefined ? {} : { body: JSON.stringify(content) };
  const answer = await send('GitLab', `${api}/projects/${encodeURIComponent(repository)}/${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'private-token': token },
    ...body,
  });
  return answer.body;
}
