/** Whether a freeze begins before a run gets to the next of its deployments. */
import { readConfiguration } from '../../config/load.ts';
import type { RunResult } from '../../contract/run.ts';
import { partInFlight } from '../../contract/explain-wait.ts';
import { policyOf, type PlannedOperation, type Policy } from '../../config/policy.ts';
import type { Eta } from '../advice/actions.ts';
import type { FrozenBy } from './shapes.ts';

/**
 * By the belay.yaml of this machine, as `--dry-run`. A mistake in it is not the concern of a status.
 * @param eta of the operation in flight
 * @returns null if none begins within its 95th percentile, or nothing is to come
 */
export async function freezeAhead(result: RunResult, eta: Eta | null, nowMs: number): Promise<NextFreeze | null> {
  const inFlight = partInFlight(result);
  const toCome = result.deployments.filter((it) => it.outcome === null && it !== inFlight);
  if (eta === null || toCome.length === 0) return null;
  const beganMs = eta.acceptedAt === null ? nowMs : Date.parse(eta.acceptedAt);
  const untilMs = beganMs + (eta.p95Ms ?? eta.usuallyMs);
  const policy = await readConfiguration().then(policyOf, () => null);
  if (policy === null) return null;
  const serverId = result.backup?.serverId;
  const operations = toCome.map(({ target }) => ({ target, serverId }));
  return firstFreezeAhead(policy, operations, { nowMs, untilMs });
}

/* When belay.yaml begins to hold an operation back that may go now. Pure. */

interface NextFreeze {
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
export function firstFreezeAhead(
  rules: Rules,
  operations: readonly PlannedOperation[],
  ahead: Ahead,
): NextFreeze | null {
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
