/** What a rollout is about to do, server by server, as people approve it. Pure. */
import type { PlannedPart } from '../../contract/approval.ts';
import type { RolloutInput } from '../../contract/rollout.ts';
import { targetsOf } from '../../contract/target.ts';

/** @param wave null for all of them */
export function plannedParts({ waves }: Pick<RolloutInput, 'waves'>, wave: string | null): PlannedPart[] {
  const asked = waves.filter(({ name }) => wave === null || name === wave);
  return asked.flatMap(({ targets }) =>
    targets.map(({ serverId, ...left }) => ({ serverId, targets: targetsOf(left) })),
  );
}
