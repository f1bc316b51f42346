/** Reports the state of a run's target to GitHub, as a status of the commit or as a deployment. */
import { definedFields, isRecord, parsedJson } from '../../contract/plain-object.ts';
import type { ReportedState } from './shapes.ts';
import { NotTaken, send } from './worker-post.ts';

export interface RepositoryReport {
  /** The base address of the API. The token goes nowhere else. */
  api: string;
  repository: string;
  token: string;
  commit: string;
  /** The name that GitHub shows the report under. */
  context: string;
  /** The id of the run, which tells its deployment from others. */
  id: string;
  state: ReportedState;
  description: string;
  /** The page of the run in the Temporal UI. */
  link: string | null;
  /** The address of the deployed site, if belay.yaml knows it. */
  siteUrl: string | null;
}

const STATUS: Record<ReportedState, string> = {
  waiting: 'pending',
  begun: 'pending',
  completed: 'success',
  failed: 'failure',
  unclear: 'error',
  cancelled: 'error',
  refused: 'error',
};

const DEPLOYMENT: Record<ReportedState, string> = {
  ...STATUS,
  waiting: 'queued',
  begun: 'in_progress',
  cancelled: 'inactive',
  refused: 'inactive',
};

export async function reportStatus(report: RepositoryReport): Promise<void> {
  const { commit, context, state, description, link } = report;
  const linked = link === null ? {} : { target_url: link };
  await call(report, 'POST', `statuses/${commit}`, { context, state: STATUS[state], description, ...linked });
}

/** Looks for the deployment of this run before it makes one, because an earlier answer may have been lost. */
export async function reportDeployment(report: RepositoryReport): Promise<void> {
  const { state, description, link, siteUrl } = report;
  const id = (await findDeployment(report)) ?? (await createDeployment(report));
  const linked = definedFields({ log_url: link ?? undefined, environment_url: siteUrl ?? undefined });
  await call(report, 'POST', `deployments/${id}/statuses`, { state: DEPLOYMENT[state], description, ...linked });
}

const PER_PAGE = 100;

async function findDeployment(report: RepositoryReport): Promise<number | null> {
  const { commit: sha, context: environment } = report;
  const query = new URLSearchParams({ sha, environment, per_page: String(PER_PAGE) });
  const found = await call(report, 'GET', `deployments?${query.toString()}`);
  if (!Array.isArray(found)) throw new NotTaken('GitHub answered with no list of deployments', null);
  const own = found.filter(isRecord).find(({ payload }) => idIn(payload) === report.id);
  return typeof own?.id === 'number' ? own.id : null;
}

/** GitHub may return a payload as text. */
function idIn(payload: unknown): unknown {
  const read = typeof payload === 'string' ? parsedJson(payload) : payload;
  return isRecord(read) ? read.belay : null;
}

async function createDeployment(report: RepositoryReport): Promise<number> {
  const { commit: ref, context: environment, id, description } = report;
  const made = await call(report, 'POST', 'deployments', {
    ref,
    environment,
    description,
    payload: { belay: id },
    // Otherwise GitHub merges the default branch first, and refuses a commit whose checks have not passed.
    auto_merge: false,
    required_contexts: [],
  });
  if (isRecord(made) && typeof made.id === 'number') return made.id;
  throw new NotTaken('GitHub answered without the id of a deployment', null);
}

async function call(
  { api, repository, token }: RepositoryReport,
  method: 'GET' | 'POST',
  path: string,
  content?: object,
): Promise<unknown> {
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'user-agent': 'belay',
    'x-github-api-version': '2022-11-28',
  };
  const body = content === undefined ? null : JSON.stringify(content);
  const answer = await send('GitHub', `${api}/repos/${repository}/${path}`, { method, headers, body });
  return JSON.parse(answer) as unknown;
}
