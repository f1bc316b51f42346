/** When belay.yaml begins to hold an operation back that may go now. Pure. */
import type { FrozenBy } from '../contract/freeze.ts';
import type { PlannedOperation, Policy } from './policy.ts';

export interface NextFreeze {
  by: FrozenBy;
  atMs: number;
}

/** @returns null if nothing begins until then, or if it is held back already */
export function nextFreeze(
  policy: Pick<Policy, 'list' | 'frozenBy'>,
  operation: PlannedOperation,
  { nowMs, untilMs, letOff = new Set() }: { nowMs: number; untilMs: number; letOff?: ReadonlySet<string> },
): NextFreeze | null {
  if (policy.frozenBy(operation, nowMs, letOff).length > 0) return null;
  // It may go until a freeze begins, or the window closes that it is in.
  const changes = policy
    .list(operation, nowMs)
    .map(({ kind, from, until }) => Date.parse((kind === 'freeze' ? from : until) ?? ''))
    .filter((atMs) => atMs > nowMs && atMs <= untilMs)
    .sort((a, b) => a - b);
  for (const atMs of changes) {
    const [by] = policy.frozenBy(operation, atMs, letOff);
    if (by !== undefined) return { by, atMs };
  }
  return null;
}
