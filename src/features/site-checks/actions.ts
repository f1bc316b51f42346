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

/** @throws BelayError `Usage` if the site has no check */
export async function trySiteCheck({ site: siteId, commit: given, json }: CheckOptions): Promise<void> {
  const configuration = await requireConfiguration();
  const found = policyOf(configuration).checkOf(siteId);
  if (found === null)
    throw new BelayError('Usage', `site ${siteId} has no check: add it to sites: in belay.yaml, with check:`);
  const { plan, request } = found;
  const [answer, latest] = await Promise.all([createSiteReader()(request), readLatest(siteId, configuration)]);
  const read = plainRead(answer);
  const commit = given ?? null;
  const kind = kindOf({ ...plan, commit, orNewer: false }, null, read);
  const document = {
    siteId,
    check: plan.name,
    url: request.url,
    expectedCommit: commit,
    latestDeployment: latest.status,
    latestProblem: latest.problem,
    read,
    isGood: kind === 'good',
  };
  printAnswer(json, document, [
    `site ${siteId}, check ${plan.name}: ${request.url}`,
    `  latest deployment: ${latestText(latest)}`,
    `  answer: ${answerText(read, plan.showsCommit)}`,
    verdictText(kind, read, commit),
  ]);
  process.exitCode = EXITS[kind];
}

const EXITS: Record<ReadKind, number> = {
  good: EXIT.completed,
  bad: EXIT.failed,
  old: EXIT.failed,
  other: EXIT.failed,
  no_commit: EXIT.failed,
  nothing: EXIT.unknown,
};

type Latest = Pick<Reading, 'status' | 'problem'> & Partial<Pick<Reading, 'isMissing'>>;

/** A check needs only the page, so it reads the page even without a token of the service. */
async function readLatest(siteId: string, configuration: Configuration): Promise<Latest> {
  try {
    const reader = createTargetReader(requireService(await findServiceConfig()), configuration);
    const [reading] = await reader.readAll([siteTarget(siteId)]);
    return reading ?? { status: null, problem: null };
  } catch (error) {
    if (error instanceof ConfigError) return { status: null, problem: error.message };
    throw error;
  }
}

function latestText({ status, problem, isMissing = false }: Latest): string {
  if (isMissing) return 'none: the service answers 404';
  return status === null ? `not read: ${plainText(problem ?? 'no answer')}` : `"${plainText(status)}"`;
}

function answerText({ kind, httpStatus, commit }: SiteRead, showsCommit: boolean): string {
  if (kind === 'nothing') return 'none';
  const shown = commit === null ? 'no commit' : `commit ${commit}`;
  return `status ${httpStatus ?? 'not known'}${showsCommit ? `, ${shown}` : ''}`;
}

function verdictText(kind: ReadKind, { why }: SiteRead, expectedCommit: string | null): string {
  if (kind === 'good') return 'good: every expectation is met';
  if (kind === 'bad' || kind === 'nothing') return `${kind}: ${why ?? 'it shows no commit'}`;
  return `bad: it does not show commit ${commitText(expectedCommit ?? '')}${why === null ? '' : `: ${why}`}`;
}
