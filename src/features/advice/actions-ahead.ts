/** Predicts whether a freeze begins before the next deployment of a run. */
import { readConfiguration } from '../../config/load.ts';
import type { RunResult } from '../../contract/run.ts';
import { partInFlight } from '../../contract/explain-wait.ts';
import { policyOf, type Policy } from '../../config/policy.ts';
import type { PlannedOperation } from '../../contract/target.ts';
import type { Eta } from './actions.ts';
import type { FrozenBy } from '../freezes/shapes.ts';

/**
 * Reads the belay.yaml of this machine, as `--dry-run` does. A mistake in the file must not break a status.
 *
 * @param eta of the operation in flight
 * @returns null if no freeze begins before 95 % of such operations have ended, or if no deployment is left
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

interface NextFreeze {
  by: FrozenBy;
  atMs: number;
}

interface Ahead {
  nowMs: number;
  untilMs: number;
  /** Names of freezes and windows that do not hold the operations back. */
  letOff?: ReadonlySet<string>;
}

type Rules = Pick<Policy, 'list' | 'frozenBy'>;

/** @returns the first freeze that begins to hold back one of these operations before `untilMs`, or null */
export function firstFreezeAhead(
  rules: Rules,
  operations: readonly PlannedOperation[],
  ahead: Ahead,
): NextFreeze | null {
  const found = operations.flatMap((it) => nextFreezeOf(rules, it, ahead) ?? []);
  return found.sort((a, b) => a.atMs - b.atMs)[0] ?? null;
}

/** @returns null also if the operation is already held back */
function nextFreezeOf(
  policy: Rules,
  operation: PlannedOperation,
  { nowMs, untilMs, letOff = new Set() }: Ahead,
): NextFreeze | null {
  if (policy.frozenBy(operation, nowMs, letOff).length > 0) return null;
  // The operation may go until a freeze begins or its window closes.
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
