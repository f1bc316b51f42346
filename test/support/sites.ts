/** Sites with earlier deployments, and servers with a backup of another party. */
import type { Controls } from '../../src/sandbox/controls.ts';
import type { ScriptPart } from '../../src/sandbox/script.ts';
import { fresh } from './fresh.ts';

/**
 * A site with this last deployment and these next ones.
 * @param old null for a site that was never deployed
 */
export function siteAfter(
  sandbox: Pick<Controls, 'script' | 'act'>,
  old: ScriptPart | null,
  ...next: ScriptPart[]
): string {
  const siteId = fresh('a');
  const past = old === null ? [] : [{ durationMs: 0, ...old }];
  sandbox.script({ site: siteId }, ...past, ...next);
  if (old !== null) sandbox.act({ site: siteId });
  return siteId;
}

export const FAILED: ScriptPart = { durationMs: 0, ends: 'failed' };
/** Completes at once and keeps its status, so late reads also return it. */
export const COMPLETED: ScriptPart = { durationMs: 0, ends: 'completed' };

/** Another party backs the server up. @returns the id of the backup */
export function backupOutside(sandbox: Pick<Controls, 'act' | 'journal'>, serverId: string): string {
  sandbox.act({ server: serverId });
  return sandbox.journal.findLast(({ began: it }) => it?.target === serverId)?.began?.id ?? '';
}
