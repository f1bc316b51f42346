/** The input of a rollout that is retried: what of the last attempt is not completed, wave by wave. Pure. */
import type { RolloutInput, TargetResult } from '../../contract/rollout.ts';
import { targetsInput } from '../../contract/target.ts';

/** A wave of which everything is completed is left out, and so is what follows it. */
export function nextAttempt(
  before: RolloutInput,
  targets: readonly TargetResult[],
  epoch: { epoch?: string },
): RolloutInput {
  const input = { ...before };
  delete input.epoch;
  const left = targets.filter(({ outcome }) => outcome !== 'completed');
  const names = [...new Set(left.map(({ wave }) => wave))];
  // A retry is a start: its deadline counts from now.
  const { deploysUntil } = input;
  const isDone = ({ outcome }: { outcome: unknown }) => outcome === 'completed';
  return {
    ...input,
    ...epoch,
    ...(deploysUntil === undefined
      ? {}
      : { deploysUntil: { time: deploysUntil.time, timeZone: deploysUntil.timeZone } }),
    attempt: (input.attempt ?? 1) + 1,
    previousResults: targets.filter(isDone),
    waves: names.map((name) => ({
      ...input.waves.find((wave) => wave.name === name),
      name,
      targets: left
        .filter(({ wave }) => wave === name)
        .map(({ serverId, deployments }) => ({
          serverId,
          ...targetsInput(deployments.filter((it) => !isDone(it)).map((it) => it.target)),
          completedTargets: deployments.filter(isDone).map((it) => it.target),
        })),
    })),
  };
}
