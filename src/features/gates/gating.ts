/** What a rollout knows of its gates. */
import type { GatesAnswer, OnGates, WaitingForGates, WaveGates } from './shapes.ts';
import type { Decision, RolloutResult, TargetResult } from '../rollouts/shapes.ts';
import { lastPause } from '../rollouts/rules.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import type { RolloutState } from '../rollouts/state.ts';

export interface Gating {
  /** As a worker recorded them when the rollout began. */
  waves: readonly WaveGates[];
  on: Required<OnGates>;
  waiting: WaitingForGates | null;
  /** The last pause for a gate; null if there was none after this wave. */
  pause: Decision | null;
  /** What a failed gate says, as long as the rollout is paused for it. */
  failed: string | null;
  /** When the first request to deploy was accepted, in milliseconds since 1970, by wave. */
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

/** @param answer what the worker said when the rollout began. @returns why no server starts, or null */
export function recordGates({ input, gating }: RolloutState, answer: GatesAnswer | undefined): Conclusion | null {
  if (!input.waves.some(({ after }) => after !== undefined)) return null;
  if (answer === undefined)
    return conclude('not_started', 'Refused', 'the worker does not know gates: upgrade all workers first');
  if ('error' in answer) return conclude('not_started', answer.error.type, answer.error.message);
  Object.assign(gating, answer);
  return null;
}

/** The first wave that has ended, and whose gates have not passed; or null. */
export const dueGates = ({ gating, result }: RolloutState): WaveGates | null =>
  gating.waves.find(({ wave }) => !result.passedWaves.includes(wave) && hasEnded(serversOf(result, wave))) ?? null;

/** Also those that earlier attempts completed. */
export const serversOf = ({ targets }: Pick<RolloutResult, 'targets'>, wave: string): TargetResult[] =>
  targets.filter((it) => it.wave === wave);

/** A wave of which nothing was begun has nothing to measure. */
const hasEnded = (targets: readonly TargetResult[]): boolean =>
  targets.every(({ outcome }) => outcome !== null) && targets.some(({ startedAt }) => startedAt !== null);

/** Call it before a server is started: whatever its wave passed in an earlier attempt, it did so without that server. */
export function measureAnew({ result }: RolloutState, wave: string): void {
  result.passedWaves = result.passedWaves.filter((it) => it !== wave);
}

/** Whether the rollout is paused by a gate that may still pass, and by no one else. */
export const mayHeal = (rollout: Pick<RolloutState, 'gating' | 'result'>): boolean =>
  rollout.result.phase === 'paused' && rollout.gating.failed === null && !isPausedByOthers(rollout);

export const isPausedByOthers = ({ gating: { pause }, result }: Pick<RolloutState, 'gating' | 'result'>): boolean =>
  result.phase === 'paused' && (pause === null || pause !== lastPause(result.decisions));

/** Call it with what the run of a server returned. */
export function noteFirstPost({ gating: { firstPosts } }: RolloutState, wave: string, acceptedAt: (string | null)[]) {
  const times = acceptedAt.filter((it) => it !== null).map((it) => Date.parse(it));
  if (times.length > 0) firstPosts.set(wave, Math.min(firstPosts.get(wave) ?? Infinity, ...times));
}
