/**
 * S15: what a deployment reports of its check follows from the reads of the site in its history. Written from
 * docs/how-to/check-sites.md, without the rules that the workflows use. Pure.
 */
import type { DeploySiteInput } from '../../../src/contract/operation.ts';
import type { DeploymentResult } from '../../../src/contract/run.ts';
import type { CheckAim, SiteRead } from '../../../src/features/site-checks/shapes.ts';
import { resultOf } from '../plays/record.ts';
import { startInput } from '../stack/inspect.ts';
import type { Run } from '../temporal/types.ts';
import type { World } from '../world.ts';
import { recordedSiteReads, type RecordedSiteRead } from './recorded-site-reads.ts';

/** A check ends after this many reads in a row that no worker finished. */
const LOST_IN_A_ROW = 10;

export function misjudged({ server: { runs } }: Pick<World, 'server'>): string[] {
  return runs
    .filter(({ type }) => type === 'deploySite')
    .flatMap((run) => {
      const { check: aim } = startInput<DeploySiteInput>(run);
      const result = resultOf<DeploymentResult>(run.outcome);
      if (aim === undefined || result === null) return [];
      return problems(run, aim, result).map((problem) => `S15: ${run.workflowId} ${problem}`);
    });
}

function problems(run: Run, aim: CheckAim, { outcome, error, check }: DeploymentResult): string[] {
  const reads = recordedSiteReads(run);
  const verified = reads.filter(({ stage }) => stage === 'verify');
  const answered = verified.flatMap(({ read }) => read ?? []);
  // It may have been given up.
  const baseline = check?.baseline ?? null;
  const isGood = (read: SiteRead) => isExpected(aim, baseline, read);
  if (outcome === 'completed') {
    if (check?.outcome !== 'passed') return ['completed, and its check did not pass'];
    const last = [...before(reads, verified[0]), ...answered].slice(-aim.inARow);
    const isProven = last.length === aim.inARow && last.every(isGood);
    return isProven ? [] : [`completed without ${aim.inARow} good reads in a row at the end`];
  }
  if (check?.outcome === 'failed' && error?.type === 'CheckFailed')
    return [...exhausted(aim, answered), ...(answered.every(isGood) ? ['fails a site whose reads were all good'] : [])];
  if (check?.outcome !== 'unknown') return check?.outcome === 'passed' ? [`${outcome}, and its check passed`] : [];
  return lostAtTheEnd(verified) >= LOST_IN_A_ROW ? [] : exhausted(aim, answered);
}

const exhausted = ({ tries }: CheckAim, answered: readonly SiteRead[]): string[] =>
  answered.length === tries ? [] : [`ends its check after ${answered.length} of ${tries} reads`];

const before = (reads: readonly RecordedSiteRead[], first: RecordedSiteRead | undefined): SiteRead[] =>
  reads.flatMap(({ stage, scheduledId, read }) =>
    stage === 'look' && read !== null && scheduledId < (first?.scheduledId ?? Infinity) ? [read] : [],
  );

const lostAtTheEnd = (verified: readonly RecordedSiteRead[]): number =>
  verified.length - 1 - verified.findLastIndex(({ read }) => read !== null);

const isSame = (one: string, other: string): boolean => {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length) === other.slice(0, length);
};

function isExpected(
  { commit, orNewer }: CheckAim,
  baseline: SiteRead | null,
  { kind, commit: shown }: SiteRead,
): boolean {
  if (kind !== 'holds' || commit === null) return kind === 'holds';
  if (shown === null) return false;
  const old = baseline?.commit ?? null;
  return isSame(shown, commit) || (orNewer && old !== null && !isSame(shown, old));
}

/** Whether the site showed the expected commit, and another one just before the request. */
export function showedIdentity(run: Run): boolean {
  return showed(run, ({ commit }, shown) => commit !== null && isSame(shown, commit));
}

/** Whether the site showed another commit than just before the request. */
export const showedChange = (run: Run): boolean => showed(run, () => true);

function showed(run: Run, isMeant: (aim: CheckAim, shown: string) => boolean): boolean {
  const { check: aim } = startInput<DeploySiteInput>(run);
  const reads = recordedSiteReads(run);
  const old = reads.findLast(({ stage }) => stage === 'baseline')?.read?.commit ?? null;
  return reads.some(({ stage, read }) => {
    const shown = read?.commit ?? null;
    return (
      stage !== 'baseline' &&
      aim !== undefined &&
      old !== null &&
      shown !== null &&
      !isSame(shown, old) &&
      isMeant(aim, shown)
    );
  });
}
