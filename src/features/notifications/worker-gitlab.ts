/** Reports the state of a run's target to GitLab, as a status of the commit or as a deployment. */
import type { ReportedState, ReportNote } from './shapes.ts';
import type { RepositoryReport } from './worker-github.ts';
import { NotTaken, send } from './worker-post.ts';
import { isRecord } from '../../contract/plain-object.ts';

/** GitLab uses the same words for commits and deployments. */
const GITLAB_STATUS: Record<ReportedState, string> = {
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

/** GitLab refuses to set the same state again, and to go from running back to pending. What it shows then stays. */
const isKnownAlready = (error: unknown): boolean =>
  error instanceof NotTaken && error.status === 400 && error.body.includes('Cannot transition status');

/** @returns the text of the answer. @throws NotTaken */
async function callGitlab(
  { api, repository, token }: RepositoryReport,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  content?: object,
): Promise<string> {
  return send('GitLab', `${api}/projects/${encodeURIComponent(repository)}/${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'private-token': token },
    body: content === undefined ? null : JSON.stringify(content),
  });
}

/* Reports the state of a run's target to GitLab, as a deployment of an environment. */

export interface GitlabPlace {
  environment: string;
  /** The branch that the site is deployed from. GitLab wants one beside the commit. */
  branch: string;
}

/**
 * GitLab stores nothing that shows whose a deployment is. So Belay notes the newest deployment before it makes its own;
 * if the answer is lost, only a later deployment of this commit can be its own.
 *
 * @returns what to note; `isTaken` is false if nothing was reported yet, so that it has to be called once more
 */
export async function reportGitlabDeployment(
  report: RepositoryReport,
  place: GitlabPlace,
  note: ReportNote | undefined,
): Promise<{ isTaken: boolean; note?: ReportNote }> {
  // GitLab has no word for a deployment that waits.
  if (report.state === 'waiting') return { isTaken: true };
  if (note === undefined)
    return { isTaken: false, note: { after: (await listDeployments(report, place))[0]?.id ?? 0 } };
  const status = GITLAB_STATUS[report.state];
  const own = 'id' in note ? await readDeployment(report, note.id) : await findOwn(report, place, note.after);
  if (own === undefined) return { isTaken: true, note: { id: await createDeployment(report, place, status) } };
  // GitLab refuses to set the same status again.
  if (own.status !== status) await callGitlab(report, 'PUT', `deployments/${own.id}`, { status });
  return { isTaken: true, note: { id: own.id } };
}

interface Deployment {
  id: number;
  sha: string;
  status: string;
  /** A job of GitLab made it, so it is not Belay's. */
  isOfJob: boolean;
}

async function findOwn(report: RepositoryReport, place: GitlabPlace, after: number): Promise<Deployment | undefined> {
  const later = (await listDeployments(report, place)).filter(({ id }) => id > after);
  return later.find(({ sha, isOfJob }) => sha === report.commit && !isOfJob);
}

const PER_PAGE = 100;

async function listDeployments(report: RepositoryReport, { environment }: GitlabPlace): Promise<Deployment[]> {
  const query = new URLSearchParams({ environment, order_by: 'id', sort: 'desc', per_page: String(PER_PAGE) });
  const found: unknown = JSON.parse(await callGitlab(report, 'GET', `deployments?${query.toString()}`));
  if (!Array.isArray(found)) throw new NotTaken('GitLab answered with no list of deployments', null);
  return found.map(deploymentIn);
}

const readDeployment = async (report: RepositoryReport, id: number): Promise<Deployment> =>
  parsed(await callGitlab(report, 'GET', `deployments/${id}`));

async function createDeployment(
  report: RepositoryReport,
  { environment, branch }: GitlabPlace,
  status: string,
): Promise<number> {
  const what = { environment, sha: report.commit, ref: branch, tag: false, status };
  return parsed(await callGitlab(report, 'POST', 'deployments', what)).id;
}

const parsed = (answer: string): Deployment => deploymentIn(JSON.parse(answer));

function deploymentIn(answer: unknown): Deployment {
  if (!isRecord(answer) || typeof answer.id !== 'number')
    throw new NotTaken('GitLab answered without the id of a deployment', null);
  const { id, sha, status, deployable } = answer;
  return { id, sha: String(sha), status: String(status), isOfJob: isRecord(deployable) };
}
