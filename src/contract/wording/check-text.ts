/** What the check of a site showed, in a few words. Pure. */
import type { DeploymentResult, RunResult } from '../run.ts';
import type { SiteRead } from '../site-check.ts';
import { plainText } from './safe-text.ts';
import { commitText } from './commit-text.ts';

/** @returns null if there is nothing to say */
export function checkText(
  { outcome, check = null }: Pick<DeploymentResult, 'outcome' | 'check'>,
  { commit = null }: Pick<RunResult, 'commit'>,
): string | null {
  const shown = check?.last?.commit ?? null;
  const unchecked = commit !== null && shown === null && outcome === 'completed';
  const doubt = unchecked ? `commit ${commitText(commit)} not checked` : null;
  if (check === null || check.reads === 0) return doubt;
  const which = shown === null ? [] : [`commit ${commitText(shown)}`];
  return [
    `check ${check.outcome ?? 'not decided'}, ${countText(check)}`,
    ...which,
    ...(doubt === null ? [] : [doubt]),
  ].join(', ');
}

const countText = ({ goodReads, reads }: { goodReads: number; reads: number }): string =>
  `${goodReads} of ${reads} ${reads === 1 ? 'read' : 'reads'} good`;

/** As it is shown and stored: why it does not hold quotes the site. */
export const plainRead = ({ why, ...read }: SiteRead): SiteRead => ({
  ...read,
  why: why === null ? null : plainText(why),
});

/** What one read showed. */
export function readText({ why, httpStatus, commit }: SiteRead): string {
  return `${why ?? `status ${httpStatus}, as expected`}${commit === null ? '' : `, commit ${commitText(commit)}`}`;
}
