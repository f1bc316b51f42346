/** When belay.yaml begins to hold an operation back that may go now. Pure. */
import type { FrozenBy } from './shapes.ts';
import type { PlannedOperation, Policy } from '../../config/policy.ts';

export interface NextFreeze {
  by: FrozenBy;
  atMs: number;
}

interface Ahead {
  nowMs: number;
  untilMs: number;
  /** Names of what does not hold them back. */
  letOff?: ReadonlySet<string>;
}

type Rules = Pick<Policy, 'list' | 'frozenBy'>;

/** @returns the first one that begins to hold back one of these; null if none does until then */
export function nextFreeze(rules: Rules, operations: readonly PlannedOperation[], ahead: Ahead): NextFreeze | null {
  const found = operations.flatMap((it) => nextFreezeOf(rules, it, ahead) ?? []);
  return found.sort((a, b) => a.atMs - b.atMs)[0] ?? null;
}

/** @returns null also if it is held back already */
function nextFreezeOf(
  policy: Rules,
  operation: PlannedOperation,
  { nowMs, untilMs, letOff = new Set() }: Ahead,
): NextFreeze | null {
  if (policy.frozenBy(operation, nowMs, letOff).length > 0) return null;
  // It may go until a freeze begins, or the window closes that it is in.
  const changes = policy
    .list([operation], nowMs)
    .map(({ kind, from, until }) => Date.parse((kind === 'freeze' ? from : until) ?? ''))
    .filter((atMs) => atMs > nowMs && atMs <= untilMs)
    .sort((a, b) => a - b);
  for (const atMs of changes) {
    const [by] = policy.frozenBy(operation, atMs, letOff);
    if (by !== undefined) return { by, atMs };
  }
  return null;
}
