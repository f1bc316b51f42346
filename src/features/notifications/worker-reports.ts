/**
 * Reports the state of a run to heartbeats and repositories, and decides which of them get the commit of a run. An
 * answer is a value, without the address or token.
 */
import { checkToken, checkedSource } from '../../config/environment/secrets.ts';
import type { Configuration } from '../../config/load.ts';
import { type ReportAnswer, type ReportMessage, type ReportedState, REPORTS_FACT, type ReportPlace } from './shapes.ts';
import {
  deploymentsOf,
  isApp,
  type Target,
  targetText,
  type PlannedDeployment,
  type PlannedOperation,
} from '../../contract/target.ts';
import { checkedAddress, type Address, NotTaken, send, checkApi, checkTokenKind } from './worker-post.ts';
import { FULL_COMMIT } from '../../contract/commit.ts';
import { reportDeployment, reportStatus, type RepositoryReport } from './worker-github.ts';
import { reportGitlabDeployment, reportToGitlab } from './worker-gitlab.ts';
import type { WorkflowRequest } from '../../contract/activities.ts';
import { partsOf, type RolloutInput } from '../rollouts/shapes.ts';
import type { RunInput } from '../../contract/run.ts';
import type { Fact, Known } from '../../activities/fact.ts';

type ReportConfig = NonNullable<NonNullable<Configuration['notify']>['reports']>[string];

/** @returns nothing if the report was taken, or whether to call again with a note. @throws NotTaken */
type Tell = (message: ReportMessage) => Promise<void | Sent>;
type Sent = Awaited<ReturnType<typeof reportGitlabDeployment>>;

export interface NoticeLinks {
  /** Returns the page of a run in the Temporal UI. Null if its address is not known. */
  ofRun: (run: { workflowId: string | null; runId: string | null }) => string | null;
  /** Returns the address of a site, if belay.yaml knows it. */
  ofSite: (siteId: string) => string | null;
}

export const answerTo = async (message: ReportMessage, tell: Tell | undefined): Promise<ReportAnswer> =>
  tell === undefined ? { kind: 'unknown' } : tell(message).then(answerOf, answerOfError);

export const beatAt =
  (name: string, address: Address): Tell =>
  async ({ reported, firstRunId }) => {
    const url = healthchecksAddress(await address(), reported.state, firstRunId);
    await send(`heartbeat ${name}`, url, { method: 'POST', body: reported.text });
  };

const PUBLIC = { github: 'https://api.github.com', gitlab: 'https://gitlab.com/api/v4' } as const;

/** @throws ConfigError if an address or a token is missing or invalid */
export async function reportAt(key: string, config: ReportConfig, links: NoticeLinks): Promise<Tell> {
  const api = checkApi(`${key}.url`, config.kind, checkedAddress(`${key}.url`, config.url ?? PUBLIC[config.kind]));
  const check = (text: string) => checkTokenKind(`${key}.token`, config.kind, checkToken(`${key}.token`, text));
  const token = await checkedSource(`${key}.token`, config.token, check);
  const report = senderFor(config);
  const repository = config.kind === 'github' ? config.repository : String(config.project);
  return async ({ to, reported, note, ...run }) => {
    if (to.kind !== 'report') throw new TypeError('a report is of a target');
    const context = `belay/${isApp(to.target) ? 'app:' : ''}${to.target.id}`;
    const id = `${run.workflowId}:${run.firstRunId}`;
    const place = { api, repository, token: await token(), commit: to.commit.toLowerCase(), context, id };
    const link = links.ofRun({ workflowId: run.workflowId, runId: run.firstRunId });
    const siteUrl = isApp(to.target) ? null : links.ofSite(to.target.id);
    const { state, text: description } = reported;
    return report({ ...place, state, description, link, siteUrl }, note);
  };
}

type SendReport = (report: RepositoryReport, note: ReportMessage['note']) => Promise<void | Sent>;

function senderFor(config: ReportConfig): SendReport {
  if (config.kind === 'github') return config.as === 'deployment' ? reportDeployment : reportStatus;
  return config.as === 'deployment' ? (it, note) => reportGitlabDeployment(it, config, note) : reportToGitlab;
}

function answerOf(sent: void | Sent): ReportAnswer {
  const { isTaken, ...noted } = sent ?? { isTaken: true };
  return isTaken ? { kind: 'taken', ...noted } : { kind: 'later', message: 'it was read first', afterMs: 0, ...noted };
}

/** Statuses that only a person can fix: a token, a name, or a commit that does not exist. */
const FOR_PEOPLE = [400, 401, 403, 404, 409, 410, 422];

function answerOfError(error: unknown): ReportAnswer {
  if (!(error instanceof NotTaken))
    return { kind: 'later', message: 'its answer or its secret cannot be read', afterMs: null };
  const { message, status, retryAfterMs } = error;
  // GitHub answers 403 to too many requests, and then says when to come back.
  if (status !== null && FOR_PEOPLE.includes(status) && retryAfterMs === undefined) return { kind: 'refused', message };
  return { kind: 'later', message, afterMs: retryAfterMs ?? null };
}

/* Builds the call that reports the state of a run to healthchecks. Pure. */

/** healthchecks does not count a log entry as a sign of life. */
const PATHS: Record<ReportedState, string> = {
  waiting: '/log',
  begun: '/start',
  completed: '',
  failed: '/fail',
  unclear: '/fail',
  cancelled: '/log',
  refused: '/fail',
};

/** @param runId a UUID that tells overlapping runs apart */
function healthchecksAddress(address: string, state: ReportedState, runId: string): string {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/+$/, '') + PATHS[state];
  url.searchParams.set('rid', runId);
  return url.href;
}

/* Decides which places of `notify.reports` get the commit of a run, and whether anything uses the commit. */

/** A place knows a commit only by its full name, so other commits are not reported. */
export const reportsFact: Fact<ReportPlace[]> = {
  ...REPORTS_FACT,
  ask({ request, plan: { commit }, begins }, known) {
    if (!begins || typeof commit !== 'string' || !FULL_COMMIT.test(commit)) return undefined;
    const reports = deploymentsOf(request.input as RunInput).flatMap((it) =>
      placesOf(it, known).map((report) => ({ report, target: it.target })),
    );
    return reports.length === 0 ? undefined : reports;
  },
  misuse: ({ request }, known) => unusedCommit(request, known),
};

function placesOf(operation: PlannedOperation, { policy, workerInfo }: Known): string[] {
  const known = workerInfo.notify?.reports ?? [];
  return policy.reportsFor(operation).filter((name) => known.includes(name));
}

/** If nothing read or reported the commit, it would be ignored silently, and the run would seem to have proved it. */
function unusedCommit({ input }: WorkflowRequest, known: Known): string | null {
  const asked = input as RunInput | RolloutInput;
  const commit = 'waves' in asked ? asked.options?.commit : asked.commit;
  if (commit === undefined) return null;
  const isChecked = asked.noCheck === undefined;
  const isRead = (target: Target) =>
    isChecked && !isApp(target) && known.policy.checkOf(target.id)?.plan.showsCommit === true;
  const isReported = (it: PlannedDeployment) => FULL_COMMIT.test(commit) && placesOf(it, known).length > 0;
  const deployments = partsOf(asked).flatMap(deploymentsOf);
  const unused = deployments.filter((it) => !isRead(it.target) && !isReported(it));
  if (unused.length === 0) return null;
  const some = unused.slice(0, MOST_NAMED).map(({ target }) => targetText(target));
  const more = unused.length > MOST_NAMED ? [`${unused.length - MOST_NAMED} more`] : [];
  const check = isChecked ? 'a check with commit:, or ' : '';
  const remedy = `in the worker's belay.yaml, add ${check}a report of notify.reports (which needs all 40 hex digits)`;
  return `nothing reads or reports the commit of ${[...some, ...more].join(', ')}${isChecked ? '' : ' without its check'}: ${remedy}, or leave the commit out`;
}

const MOST_NAMED = 3;
