/** What of a run is frozen when it begins. Pure. */
import type { FrozenBy, FrozenParts } from '../contract/freeze.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf } from '../contract/target.ts';
import type { PlannedOperation } from '../policy/policy.ts';

/** @returns null if nothing is */
export function frozenParts(input: RunInput, frozenBy: (it: PlannedOperation) => FrozenBy[]): FrozenParts | null {
  const { serverId } = input;
  const backup = serverId === undefined ? [] : frozenBy({ serverId });
  const deployments = targetsOf(input)
    .map((target) => ({ target, by: frozenBy({ target, serverId }) }))
    .filter(({ by }) => by.length > 0);
  return backup.length + deployments.length === 0 ? null : { backup, deployments };
}
