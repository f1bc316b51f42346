/** Reports to one place how a run stands. Its answer is a value, without address or token. */
import { checkToken, secretSource } from '../../config/environment/secrets.ts';
import type { Configuration } from '../../config/load.ts';
import type { ReportAnswer, ReportMessage, ReportTo } from '../../contract/report.ts';
import { isApp } from '../../contract/target.ts';
import { addressAt, checkedAddress, type Address } from './addresses.ts';
import { reportDeployment, reportStatus, type RepositoryReport } from './github-report.ts';
import { reportToGitlab } from './gitlab-report.ts';
import { healthchecksAddress } from './healthchecks.ts';
import { NotTaken, send } from './post.ts';

type Notify = NonNullable<Configuration['notify']>;
type ReportConfig = NonNullable<Notify['reports']>[string];

export interface Reporter {
  /** Heartbeats that get the start, too. */
  readonly measured: string[];
  readonly reports: string[];
  send: (message: ReportMessage) => Promise<ReportAnswer>;
}

type Tell = (message: ReportMessage) => Promise<void>;
type LinkOf = (run: Pick<ReportMessage, 'workflowId' | 'firstRunId'>) => string | null;

/** @throws ConfigError if an address or a token is missing or invalid */
export async function createReporter(config: Notify | undefined, linkOf: LinkOf): Promise<Reporter> {
  const beats = new Map<string, Tell>();
  const reports = new Map<string, Tell>();
  for (const [name, { kind, ...place }] of Object.entries(config?.heartbeats ?? {})) {
    if (kind === undefined) continue;
    beats.set(name, beatAt(name, await addressAt(`notify.heartbeats.${name}`, place)));
  }
  for (const [name, report] of Object.entries(config?.reports ?? {}))
    reports.set(name, await reportAt(`notify.reports.${name}`, report, linkOf));
  const tellOf = (to: ReportTo) => (to.kind === 'heartbeat' ? beats : reports).get(to.name);
  return {
    measured: [...beats.keys()],
    reports: [...reports.keys()],
    async send(message) {
      const tell = tellOf(message.to);
      if (tell === undefined) return { kind: 'unknown' };
      return tell(message).then(() => ({ kind: 'taken' }), answerFor);
    },
  };
}

const beatAt =
  (name: string, address: Address): Tell =>
  async ({ reported, firstRunId }) => {
    const url = healthchecksAddress(await address(), reported.state, firstRunId);
    await send(`heartbeat ${name}`, url, { method: 'POST', body: reported.text });
  };

const PUBLIC = { github: 'https://api.github.com', gitlab: 'https://gitlab.com/api/v4' } as const;

async function reportAt(key: string, config: ReportConfig, linkOf: LinkOf): Promise<Tell> {
  const api = checkedAddress(`${key}.url`, config.url ?? PUBLIC[config.kind]);
  const source = secretSource(`${key}.token`, config.token);
  const token = async () => checkToken(`${key}.token`, await source());
  await token();
  const report = sendFor(config);
  const repository = config.kind === 'github' ? config.repository : String(config.project);
  return async ({ to, reported, ...run }) => {
    if (to.kind !== 'report') throw new TypeError('a report is of a target');
    const context = `belay/${isApp(to.target) ? 'app:' : ''}${to.target.id}`;
    const id = `${run.workflowId}:${run.firstRunId}`;
    const place = { api, repository, token: await token(), commit: to.commit.toLowerCase(), context, id };
    await report({ ...place, state: reported.state, description: reported.text, link: linkOf(run) });
  };
}

function sendFor(config: ReportConfig): (report: RepositoryReport) => Promise<void> {
  if (config.kind === 'gitlab') return reportToGitlab;
  return config.as === 'deployment' ? reportDeployment : reportStatus;
}

/** What only a person can change: a token, a name, a commit that is not there. */
const FOR_PEOPLE = [400, 401, 403, 404, 409, 410, 422];

function answerFor(error: unknown): ReportAnswer {
  if (!(error instanceof NotTaken))
    return { kind: 'later', message: 'its answer or its secret cannot be read', afterMs: null };
  const { message, status, retryAfterMs } = error;
  // GitHub answers 403 to too many requests.
  if (status !== null && FOR_PEOPLE.includes(status) && retryAfterMs === undefined) return { kind: 'refused', message };
  return { kind: 'later', message, afterMs: retryAfterMs ?? null };
}
