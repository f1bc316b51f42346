/** What of a run is frozen. */
import type { FreezeQuestion, FrozenParts } from '../contract/freeze.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf } from '../contract/target.ts';
import { TIMING } from '../contract/timing.ts';
import type { Judge } from '../policy/judge.ts';

/** What a run that begins asks. */
export const questionOf = ({ serverId, keepGoing = false, ...input }: RunInput, atMs: number): FreezeQuestion => ({
  targets: targetsOf(input),
  ...(serverId === undefined ? {} : { serverId }),
  backsUp: serverId !== undefined,
  keepGoing,
  atMs,
});

/** @returns null if nothing is. @throws if Temporal does not tell */
export async function frozenParts(
  { serverId, backsUp, keepGoing = false, atMs, ...input }: FreezeQuestion,
  judge: Judge,
): Promise<FrozenParts | null> {
  // Without keepGoing, a run whose first target is frozen does not go on.
  const targets = targetsOf(input).slice(0, keepGoing ? undefined : 1);
  const backups = serverId === undefined || !backsUp ? [] : [{ serverId }];
  const planned = targets.map((target) => ({ target, serverId }));
  const frozenAt = await judge.look([...backups, ...planned], TIMING.lookup.regularMs);
  const backup = backups.flatMap((it) => frozenAt(it, atMs));
  const deployments = planned
    .map((it) => ({ target: it.target, by: frozenAt(it, atMs) }))
    .filter(({ by }) => by.length > 0);
  return backup.length + deployments.length === 0 ? null : { backup, deployments };
}
