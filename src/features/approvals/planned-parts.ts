/** What a run or rollout is about to do, server by server, as people approve it. Pure. */
import type { ApprovalPlan, Approved, PlannedPart } from './shapes.ts';
import { rootOf, targetsTreeOf } from './plan-hash.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import type { RunInput } from '../../contract/run.ts';
import { isSameTarget, targetsOf, type Target } from '../../contract/target.ts';

/** @param wave null for all of them */
export function plannedParts({ waves }: Pick<RolloutInput, 'waves'>, wave: string | null): PlannedPart[] {
  const asked = waves.filter(({ name }) => wave === null || name === wave);
  return asked.flatMap(({ targets }) =>
    targets.map(({ serverId, ...left }) => ({ serverId, targets: targetsOf(left) })),
  );
}

export const plannedPartOf = ({ serverId, ...left }: RunInput): PlannedPart => ({
  serverId: serverId ?? null,
  targets: targetsOf(left),
});

/** Of what was approved for a run, what goes with each of its deployments: its size is that of one. */
export function approvedForTarget(approved: readonly Approved[]): (target: Target) => Approved[] {
  const all = approved.map((it) => ({ ...it, tree: it.part === undefined ? null : targetsTreeOf(it.part) }));
  return (target) =>
    all.map(({ part, tree, ...given }): Approved => {
      const index = part?.targets.findIndex((it) => isSameTarget(it, target)) ?? -1;
      const mine = part?.targets[index];
      if (part === undefined || tree === null || mine === undefined) return given;
      return { ...given, part: { ...part, targets: [mine], path: [...tree.pathTo(index), ...part.path] } };
    });
}

/** As a plan names them. */
export const summaryOf = (parts: readonly PlannedPart[]): ApprovalPlan['parts'] => ({
  root: rootOf(parts),
  servers: parts.length,
  targets: parts.reduce((sum, { targets }) => sum + targets.length, 0),
});
