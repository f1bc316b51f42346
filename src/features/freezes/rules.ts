/** What keeps a run from beginning or going on. Pure. */
import type { FrozenBy, FrozenParts } from './shapes.ts';
import { isSameTarget, type Target } from '../../contract/target.ts';
import { targetText } from '../../contract/target-text.ts';

export interface HeldPart {
  /** For messages: `site 34 was not deployed`. */
  what: string;
  by: FrozenBy[];
}

/**
 * @param mayPass whether targets after the first one may go if it is frozen
 * @returns null if it may go
 */
export function heldPart(
  frozen: FrozenParts | null | undefined,
  { serverId = '', targets }: { serverId?: string | undefined; targets: readonly Target[] },
  mayPass: boolean,
): HeldPart | null {
  if (frozen === null || frozen === undefined) return null;
  const { backup, deployments } = frozen;
  if (backup.length > 0) return { what: `server ${serverId} was not backed up`, by: backup };
  const byOf = (target: Target) => deployments.find((it) => isSameTarget(it.target, target))?.by;
  const [first] = targets;
  const by = first === undefined ? undefined : byOf(first);
  const passes = mayPass && targets.some((it) => byOf(it) === undefined);
  if (first === undefined || by === undefined || passes) return null;
  return { what: `${targetText(first)} was not deployed`, by };
}
