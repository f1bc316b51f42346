/** The rules of a rollout: which server begins next and how many have failed. Pure. */
import type { RolloutPhase, TargetResult } from '../../fleet-contract.ts';
import { isRunning, isToCome } from '../../targets.ts';

export type Step = { do: 'begin'; target: TargetResult } | { do: 'wait' } | { do: 'end' };

export interface Moving {
  /** In the order of their waves. */
  targets: readonly TargetResult[];
  maxAtOnce: number;
  phase: RolloutPhase;
}

/** A held server keeps nobody else from beginning. */
export function nextStep({ targets, maxAtOnce, phase }: Moving): Step {
  const running = targets.filter(isRunning);
  const coming = phase === 'stopping' ? [] : targets.filter(mayBegin);
  const [first] = coming;
  // Whoever paused it may let held servers begin, too.
  if (phase === 'paused' && targets.some(isToCome)) return { do: 'wait' };
  if (first === undefined) return running.length === 0 ? { do: 'end' } : { do: 'wait' };
  if (running.length >= maxAtOnce) return { do: 'wait' };
  // A wave is over when all its servers have ended.
  const earlier = targets.indexOf(first);
  const inOtherWave = running.some((it) => it.wave !== first.wave && targets.indexOf(it) < earlier);
  return inOtherWave ? { do: 'wait' } : { do: 'begin', target: first };
}

const mayBegin = (target: TargetResult): boolean => isToCome(target) && target.heldBy === null;

/** Servers that began and aren't `completed`. */
export function failuresIn(targets: readonly TargetResult[]): number {
  return targets.filter(({ startedAt, outcome }) => startedAt !== null && outcome !== null && outcome !== 'completed')
    .length;
}
