/** Whether a freeze begins before a run gets to the next of its deployments. */
import { readConfiguration } from '../../config/load.ts';
import type { RunResult } from '../../contract/run.ts';
import { partInFlight } from '../../contract/explain-wait.ts';
import { nextFreeze, type NextFreeze } from './next-freeze.ts';
import { policyOf } from '../../config/policy.ts';
import type { Eta } from '../advice/advice-text.ts';

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
  return nextFreeze(policy, operations, { nowMs, untilMs });
}
