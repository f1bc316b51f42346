/** The rules of a rollout: which server begins next and how many have failed. Pure. */
import type { Decision, RolloutInput, RolloutPhase, TargetResult } from '../../contract/rollout.ts';
import { isRunning, isToCome } from '../../contract/results/tally.ts';

export type Step =
  | { do: 'begin'; target: TargetResult }
  | { do: 'wait' }
  /** Held servers keep the next wave from beginning. */
  | { do: 'decide'; held: TargetResult }
  | { do: 'end' };

interface Moving {
  /** In the order of their waves. */
  targets: readonly TargetResult[];
  maxAtOnce: number;
  phase: RolloutPhase;
  onFailures: RolloutInput['onFailures'];
}

/**
 * A held server keeps nobody of its wave from beginning, and everybody of the next ones. Where somebody is to decide,
 * he also decides about one that nobody comes after.
 */
export function nextStep({ targets, maxAtOnce, phase, onFailures }: Moving): Step {
  const running = targets.filter(isRunning).length;
  const atRest: Step = running === 0 ? { do: 'end' } : { do: 'wait' };
  if (phase === 'stopping') return atRest;
  if (phase === 'paused' && targets.some(isToCome)) return { do: 'wait' };
  const open = openOfWave(targets);
  const target = open.find(mayBegin);
  if (target !== undefined) return running < maxAtOnce ? { do: 'begin', target } : { do: 'wait' };
  const held = open.find(isToCome);
  const isInTheWay = onFailures === 'pause' || targets.some(mayBegin);
  return held !== undefined && isInTheWay && running === 0 ? { do: 'decide', held } : atRest;
}

const mayBegin = (target: TargetResult): boolean => isToCome(target) && target.heldBy === null;

/** Of the first wave that isn't over: its servers that have not ended. */
export function openOfWave(targets: readonly TargetResult[]): TargetResult[] {
  const open = targets.filter(({ outcome }) => outcome === null);
  return open.filter(({ wave }) => wave === open[0]?.wave);
}

/** What keeps a stopping rollout from beginning with anything more. */
export function stopIn(decisions: readonly Decision[]): Decision | undefined {
  return decisions.findLast(({ what }) => what === 'abort' || what === 'stop');
}

/** Servers that began and aren't `completed`. */
export function failuresIn(targets: readonly TargetResult[]): number {
  return targets.filter(({ startedAt, outcome }) => startedAt !== null && outcome !== null && outcome !== 'completed')
    .length;
}
