/** The input of a rollout that is retried: what of the last attempt is not completed, wave by wave. Pure. */
import type { RolloutInput, RolloutResult } from './shapes.ts';
import { targetsInput } from '../../contract/target.ts';

/**
 * A wave of which everything is completed is left out, unless its gates have not passed: then it keeps no server, and the
 * retry measures it before it starts a later wave.
 *
 * @returns its waves are empty if nothing is left
 */
export function nextAttempt(
  before: RolloutInput,
  { targets, passedWaves = [] }: Pick<RolloutResult, 'targets'> & Partial<Pick<RolloutResult, 'passedWaves'>>,
  epoch: { epoch?: string },
): RolloutInput {
  const input = { ...before };
  delete input.epoch;
  const left = targets.filter(({ outcome }) => outcome !== 'completed');
  const isLeft = ({ name, after }: RolloutInput['waves'][number]) =>
    left.some(({ wave }) => wave === name) || (after !== undefined && !passedWaves.includes(name));
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
    passedWaves,
    waves: input.waves.filter(isLeft).map((wave) => ({
      ...wave,
      targets: left
        .filter((it) => it.wave === wave.name)
        .map(({ serverId, deployments }) => ({
          serverId,
          ...targetsInput(deployments.filter((it) => !isDone(it)).map((it) => it.target)),
          completedTargets: deployments.filter(isDone).map((it) => it.target),
        })),
    })),
  };
}
