/**
 * Judges what a site shows after its deployment, compared with what it showed before. A site that got worse has failed.
 * A site that is as unreachable as before is unknown. Pure.
 */
import type { CheckAim, SiteRead } from './shapes.ts';
import { commitText } from '../../contract/commit.ts';

/**
 * `old`: the expectations hold, but the commit is still the old one. `other`: the commit is neither the old nor the
 * expected one. `no_commit`: the site shows no commit, and showed none before.
 */
export type ReadKind = 'good' | 'bad' | 'old' | 'other' | 'no_commit' | 'nothing';

export interface CheckSeen {
  reads: number;
  /** How many of the last reads in a row were good. */
  goodInARow: number;
  counts: Readonly<Record<ReadKind, number>>;
  last: { kind: ReadKind; read: SiteRead } | null;
}

export const NOTHING_SEEN: CheckSeen = {
  reads: 0,
  goodInARow: 0,
  counts: { good: 0, bad: 0, old: 0, other: 0, no_commit: 0, nothing: 0 },
  last: null,
};

export type CheckVerdict =
  { outcome: 'passed' } | { outcome: 'failed'; message: string } | { outcome: 'unknown'; message: string };

/** Either commit may be abbreviated. */
const isSameCommit = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

export function kindOf(aim: CheckAim, baseline: SiteRead | null, read: SiteRead): ReadKind {
  if (read.kind === 'nothing') return 'nothing';
  if (read.kind === 'fails') return 'bad';
  if (aim.commit === null || !aim.showsCommit) return 'good';
  const before = baseline?.commit ?? null;
  if (read.commit === null) return before === null ? 'no_commit' : 'bad';
  if (isSameCommit(read.commit, aim.commit)) return 'good';
  if (before === null) return 'other';
  if (isSameCommit(read.commit, before)) return 'old';
  return aim.orNewer ? 'good' : 'other';
}

export function afterSiteRead(seen: CheckSeen, kind: ReadKind, read: SiteRead): CheckSeen {
  return {
    reads: seen.reads + 1,
    goodInARow: kind === 'good' ? seen.goodInARow + 1 : 0,
    counts: { ...seen.counts, [kind]: seen.counts[kind] + 1 },
    last: { kind, read },
  };
}

/** @returns null if more reads are needed */
export function decideCheck(aim: CheckAim, baseline: SiteRead | null, seen: CheckSeen): CheckVerdict | null {
  if (seen.goodInARow >= aim.inARow) return { outcome: 'passed' };
  if (seen.reads < aim.tries || seen.last === null) return null;
  return decideExhausted(aim, baseline, seen, seen.last);
}

function decideExhausted(
  { name, commit }: CheckAim,
  baseline: SiteRead | null,
  { reads, counts }: CheckSeen,
  { kind, read }: NonNullable<CheckSeen['last']>,
): CheckVerdict {
  const failed = (message: string): CheckVerdict => ({ outcome: 'failed', message: `check ${name}: ${message}` });
  const unknown = (message: string): CheckVerdict => ({ outcome: 'unknown', message: `check ${name}: ${message}` });
  const good = `${counts.good} of ${reads} reads were good`;
  const answeredBefore = baseline !== null && baseline.kind !== 'nothing';
  if (kind === 'other')
    return unknown(
      `the site shows commit ${shown(read)}, neither ${commitText(commit ?? '')} nor that of before: ` +
        'the branch has moved on, or another deployment came between',
    );
  if (kind === 'no_commit')
    return unknown(`${read.why ?? 'commit: the site shows no commit there'}, and it showed no commit before`);
  if (counts.old === reads) return failed(`the site still shows commit ${shown(read)}, that of before`);
  if (counts.bad + counts.old > 0) return failed(`${whyOf(kind, read)}; ${good}`);
  if (counts.nothing === reads && !answeredBefore)
    return unknown(`no worker reached the site, neither before the deployment nor after it: ${read.why}`);
  return answeredBefore
    ? failed(`the site answered before the deployment, and now ${good}; the last one: ${whyOf(kind, read)}`)
    : unknown(`the site is not reached each time: ${good}; the last one: ${whyOf(kind, read)}`);
}

const shown = ({ commit }: SiteRead): string => commitText(commit ?? '');

function whyOf(kind: ReadKind, read: SiteRead): string {
  if (kind === 'old') return `the site shows commit ${shown(read)}, that of before`;
  if (kind === 'good') return 'as expected';
  return read.why ?? 'the site shows no commit';
}

/** Whether a read may still identify the deployment: the site shows another commit than the expected one so far. */
export function mayIdentify({ commit, showsCommit }: CheckAim, baseline: SiteRead | null): boolean {
  const before = baseline?.commit ?? null;
  return showsCommit && commit !== null && before !== null && !isSameCommit(before, commit);
}

/**
 * Judges a commit that the site did not show just before the request. Only the expected commit proves our deployment,
 * because a push changes the commit, too.
 */
export function evidenceOf(aim: CheckAim, baseline: SiteRead | null, read: SiteRead): 'identity' | 'changed' | null {
  const before = baseline?.commit ?? null;
  if (before === null || read.commit === null || isSameCommit(before, read.commit)) return null;
  return aim.commit !== null && isSameCommit(aim.commit, read.commit) ? 'identity' : 'changed';
}
