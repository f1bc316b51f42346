/** `belay check` reads a site and its status once from this machine, and starts nothing. */
import { printAnswer } from '../../process/json-document.ts';
import { ConfigError } from '../../config/environment/variables.ts';
import { requireService } from '../../config/environment/environment.ts';
import { findServiceConfig } from '../../config/find-temporal.ts';
import { requireConfiguration, type Configuration } from '../../config/load.ts';
import { BelayError, EXIT } from '../../contract/errors.ts';
import type { SiteRead } from './shapes.ts';
import { siteTarget } from '../../contract/target.ts';
import { plainRead } from './text.ts';
import { commitText } from '../../contract/commit.ts';
import { plainText } from '../../contract/safe-text.ts';
import { policyOf } from '../../config/policy.ts';
import { kindOf, type ReadKind } from './rules.ts';
import { createSiteReader } from '../../site-check/index.ts';
import { createTargetReader, type Reading } from '../../cli/target-reader.ts';

export interface CheckOptions {
  site: string;
  commit?: string;
  json?: boolean;
}

export async function trySiteCheck({ site, commit, json }: CheckOptions): Promise<void> {
  const tried = await tryCheck(site, commit ?? null);
  printAnswer(json, triedDocument(tried), triedText(tried));
  process.exitCode = tried.exitCode;
}

/* Reads a site as its check does after a deployment, and reads the latest status of the service. */

const EXITS: Record<ReadKind, number> = {
  good: EXIT.completed,
  bad: EXIT.failed,
  old: EXIT.failed,
  other: EXIT.failed,
  no_commit: EXIT.failed,
  nothing: EXIT.unknown,
};

export interface Tried {
  siteId: string;
  check: string;
  url: string;
  showsCommit: boolean;
  expectedCommit: string | null;
  /** The status that the service reports. Null if it could not be read. */
  latestDeployment: string | null;
  /** Why the status could not be read. Null if it was read. */
  latestProblem: string | null;
  read: SiteRead;
  kind: ReadKind;
  exitCode: number;
}

/** @throws BelayError `Usage` if the site has no check */
async function tryCheck(siteId: string, commit: string | null): Promise<Tried> {
  const configuration = await requireConfiguration();
  const found = policyOf(configuration).checkOf(siteId);
  if (found === null)
    throw new BelayError('Usage', `site ${siteId} has no check: add it to sites: in belay.yaml, with check:`);
  const { plan, request } = found;
  const [answer, latest] = await Promise.all([createSiteReader()(request), readLatest(siteId, configuration)]);
  const read = plainRead(answer);
  const kind = kindOf({ ...plan, commit, orNewer: false }, null, read);
  return {
    ...{ siteId, check: plan.name, url: request.url, showsCommit: plan.showsCommit, expectedCommit: commit },
    ...{ latestDeployment: latest.status, latestProblem: latest.problem, read, kind, exitCode: EXITS[kind] },
  };
}

/** A check needs only the page, so it reads the page even without a token of the service. */
async function readLatest(siteId: string, configuration: Configuration): Promise<Pick<Reading, 'status' | 'problem'>> {
  try {
    const reader = createTargetReader(requireService(await findServiceConfig()), configuration);
    const [reading] = await reader.readAll([siteTarget(siteId)]);
    return reading ?? { status: null, problem: null };
  } catch (error) {
    if (error instanceof ConfigError) return { status: null, problem: error.message };
    throw error;
  }
}

function triedDocument({ siteId, check, url, expectedCommit, read, kind, ...latest }: Tried): object {
  const { latestDeployment, latestProblem } = latest;
  const tried = { siteId, check, url, expectedCommit, latestDeployment, latestProblem, read };
  return { ...tried, isGood: kind === 'good' };
}

function triedText({ siteId, check, url, latestDeployment, latestProblem, ...tried }: Tried): string[] {
  const latest =
    latestDeployment === null
      ? `not read: ${plainText(latestProblem ?? 'no answer')}`
      : `"${plainText(latestDeployment)}"`;
  return [
    `site ${siteId}, check ${check}: ${url}`,
    `  latest deployment: ${latest}`,
    `  answer: ${answerText(tried)}`,
    verdictText(tried),
  ];
}

function answerText({ read: { kind, httpStatus, commit }, showsCommit }: Pick<Tried, 'read' | 'showsCommit'>): string {
  if (kind === 'nothing') return 'none';
  const shown = commit === null ? 'no commit' : `commit ${commit}`;
  return `status ${httpStatus ?? 'not known'}${showsCommit ? `, ${shown}` : ''}`;
}

function verdictText({ kind, read, expectedCommit }: Pick<Tried, 'kind' | 'read' | 'expectedCommit'>): string {
  if (kind === 'good') return 'good: every expectation is met';
  if (kind === 'bad' || kind === 'nothing') return `${kind}: ${read.why ?? 'it shows no commit'}`;
  return `bad: it does not show commit ${commitText(expectedCommit ?? '')}`;
}
