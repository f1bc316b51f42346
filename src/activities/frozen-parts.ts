/** What of a run is frozen when it begins. */
import type { FrozenParts } from '../contract/freeze.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf } from '../contract/target.ts';
import { TIMING } from '../contract/timing.ts';
import type { Judge } from '../policy/judge.ts';

/** @returns null if nothing is. @throws if Temporal does not tell */
export async function frozenParts(
  { serverId, keepGoing = false, ...input }: RunInput,
  judge: Judge,
  atMs: number,
): Promise<FrozenParts | null> {
  // Without keepGoing, a run that may not deploy its first target does not begin.
  const targets = targetsOf(input).slice(0, keepGoing ? undefined : 1);
  const backups = serverId === undefined ? [] : [{ serverId }];
  const planned = targets.map((target) => ({ target, serverId }));
  const frozenAt = await judge.look([...backups, ...planned], TIMING.lookup.regularMs);
  const backup = backups.flatMap((it) => frozenAt(it, atMs));
  const deployments = planned
    .map((it) => ({ target: it.target, by: frozenAt(it, atMs) }))
    .filter(({ by }) => by.length > 0);
  return backup.length + deployments.length === 0 ? null : { backup, deployments };
}
