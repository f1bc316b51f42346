/** The state of the gates in a rollout. */
import type { GatesAnswer, OnGates, WaitingForGates, WaveGates } from './shapes.ts';
import type { Decision, RolloutResult, TargetResult } from '../rollouts/shapes.ts';
import { lastPause } from '../rollouts/rules.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import type { RolloutState } from '../rollouts/state.ts';

export interface Gating {
  waves: readonly WaveGates[];
  on: Required<OnGates>;
  waiting: WaitingForGates | null;
  /** The last pause for a gate. Null if there was none after this wave. */
  pause: Decision | null;
  /** The reason of a failed gate while the rollout is paused for it. */
  failed: string | null;
  /** For each wave, when the first request to deploy was accepted, in milliseconds since 1970. */
  firstPosts: Map<string, number>;
}

export const createGating = (): Gating => ({
  waves: [],
  on: { failed: 'stop', inconclusive: 'stop', patienceMs: 0 },
  waiting: null,
  pause: null,
  failed: null,
  firstPosts: new Map(),
});

/** @param answer what the worker said when the rollout began. @returns why no server may start, or null */
export function recordGates({ input, gating }: RolloutState, answer: GatesAnswer | undefined): Conclusion | null {
  if (!input.waves.some(({ after }) => after !== undefined)) return null;
  if (answer === undefined)
    return conclude('not_started', 'Refused', 'the worker does not know gates: upgrade all workers first');
  if ('error' in answer) return conclude('not_started', answer.error.type, answer.error.message);
  Object.assign(gating, answer);
  return null;
}

/** Returns the first wave that has ended without its gates having passed, or null. */
export const dueGates = ({ gating, result }: RolloutState): WaveGates | null =>
  gating.waves.find(({ wave }) => !result.passedWaves.includes(wave) && hasEnded(serversOf(result, wave))) ?? null;

/** Includes servers that earlier attempts completed. */
export const serversOf = ({ targets }: Pick<RolloutResult, 'targets'>, wave: string): TargetResult[] =>
  targets.filter((it) => it.wave === wave);

/** A wave in which nothing began has nothing to measure. */
const hasEnded = (targets: readonly TargetResult[]): boolean =>
  targets.every(({ outcome }) => outcome !== null) && targets.some(({ startedAt }) => startedAt !== null);

/**
 * Call it before a server is started. Its wave may have passed its gates in an earlier attempt, but without that
 * server.
 */
export function measureAnew({ result }: RolloutState, wave: string): void {
  result.passedWaves = result.passedWaves.filter((it) => it !== wave);
}

/** True if a gate that may still pass is the only reason why the rollout is paused. */
export const mayHeal = (rollout: Pick<RolloutState, 'gating' | 'result'>): boolean =>
  rollout.result.phase === 'paused' && rollout.gating.failed === null && !isPausedByOthers(rollout);

export const isPausedByOthers = ({ gating: { pause }, result }: Pick<RolloutState, 'gating' | 'result'>): boolean =>
  result.phase === 'paused' && (pause === null || pause !== lastPause(result.decisions));

/** Call it with the result of each server's run. */
export function noteFirstPost({ gating: { firstPosts } }: RolloutState, wave: string, acceptedAt: (string | null)[]) {
  const times = acceptedAt.filter((it) => it !== null).map((it) => Date.parse(it));
  if (times.length > 0) firstPosts.set(wave, Math.min(firstPosts.get(wave) ?? Infinity, ...times));
}
