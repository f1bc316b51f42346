/** Says in a few words what the check of a site showed. Pure. */
import type { DeploymentResult, RunResult } from '../../contract/run.ts';
import type { SiteRead } from './shapes.ts';
import { plainText } from '../../contract/safe-text.ts';
import { commitText } from '../../contract/commit.ts';
import { counted } from '../../contract/results.ts';
import type { Style } from '../../contract/explain-wait.ts';
import type { WaitingForCheck } from '../../contract/waiting.ts';

/** @returns null if there is nothing to say */
export function checkText(
  { outcome, check = null }: Pick<DeploymentResult, 'outcome' | 'check'>,
  { commit = null }: Pick<RunResult, 'commit'>,
): string | null {
  const shown = check?.last?.commit ?? null;
  const doubt =
    commit !== null && isUnseen({ outcome, check }) ? `commit ${commitText(commit)} was named, not seen` : null;
  if (check === null || check.reads === 0) return doubt;
  const which = shown === null ? [] : [`commit ${commitText(shown)}`];
  return [
    `check ${check.outcome ?? 'not decided'}, ${countText(check)}`,
    ...which,
    ...(doubt === null ? [] : [doubt]),
  ].join(', ');
}

/** True if the site was deployed, but its check showed no commit. */
export const isUnseen = ({ outcome, check }: Pick<DeploymentResult, 'outcome' | 'check'>): boolean =>
  outcome === 'completed' && (check?.last?.commit ?? null) === null;

const countText = ({ goodReads, reads }: { goodReads: number; reads: number }): string =>
  `${goodReads} of ${counted(reads, 'read')} good`;

/** Makes the reason safe to show and store, because it quotes the site. */
export const plainRead = ({ why, ...read }: SiteRead): SiteRead => ({
  ...read,
  why: why === null ? null : plainText(why),
});

/** @param awaited the commit that has to be shown before the read counts as good. Null if it is not the reason */
export function readText({ kind, why, httpStatus, commit }: SiteRead, awaited: string | null = null): string {
  const met = `status ${httpStatus}${awaited === null ? ', as expected' : ''}`;
  const shown = commit === null ? '' : `, commit ${commitText(commit)}`;
  const missing = awaited === null ? '' : `, but commit ${commitText(awaited)} is expected`;
  return `${kind === 'holds' ? met : why}${shown}${missing}`;
}

/** Says what a deployment waits for while its check is in progress. */
export function checkSentence(
  { siteId, check, last, ...reads }: WaitingForCheck,
  what: string | null,
  style: Style,
): string {
  const { quote, when } = style;
  const good = `${reads.goodInARow} good in a row of ${reads.inARow}`;
  const seen = last === null ? 'no read yet' : `last read: ${quote(last)}`;
  const next = when === null ? '' : `, next read ${when(reads.nextReadAt)}`;
  return `${what === null ? '' : `${what}, `}check ${quote(check)} of ${quote(siteId)}: try ${reads.try} of ${reads.tries}, ${good}, ${seen}${next}`;
}
