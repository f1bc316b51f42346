/** Sites with a past. */
import type { Sandbox } from '../../src/sandbox/server.ts';
import type { ScriptPart } from '../../src/sandbox/hosting/script.ts';
import { fresh } from './world.ts';

/**
 * A site whose last deployment went so, and whose next ones go so.
 * @param old null for a site that was never deployed
 */
export function siteAfter(sandbox: Sandbox, old: ScriptPart | null, ...next: ScriptPart[]): string {
  const siteId = fresh('a');
  const past = old === null ? [] : [{ durationMs: 0, ...old }];
  sandbox.script({ site: siteId }, ...past, ...next);
  if (old !== null) sandbox.act({ site: siteId });
  return siteId;
}

export const FAILED: ScriptPart = { durationMs: 0, ends: 'failed' };
/** Its status is there for good at once: whoever reads it late sees it, too. */
export const COMPLETED: ScriptPart = { durationMs: 0, ends: 'completed' };
