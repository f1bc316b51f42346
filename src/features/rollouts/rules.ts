/** Decides which server starts next, counts failures, and checks the decisions of people. Pure. */
import type { Decision, RolloutInput, RolloutPhase, TargetResult } from './shapes.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { isRunning, isPending } from '../../contract/results.ts';

export type Step =
  | { kind: 'begin'; target: TargetResult }
  | { kind: 'wait' }
  /** Held servers keep the next wave from starting. */
  | { kind: 'decide'; held: TargetResult }
  | { kind: 'end' };

interface Situation {
  /** In the order of their waves. */
  targets: readonly TargetResult[];
  maxAtOnce: number;
  phase: RolloutPhase;
  onFailures: RolloutInput['onFailures'];
}

/**
 * A held server delays the later waves, but not the other servers of its own wave. With `onFailures: 'pause'`, the
 * rollout asks for a decision even if no server follows the held one.
 */
export function nextStep({ targets, maxAtOnce, phase, onFailures }: Situation): Step {
  const running = targets.filter(isRunning).length;
  const idle: Step = running === 0 ? { kind: 'end' } : { kind: 'wait' };
  if (phase === 'stopping') return idle;
  if (phase === 'paused' && targets.some(isPending)) return { kind: 'wait' };
  const open = openOfCurrentWave(targets);
  const target = open.find(mayStart);
  if (target !== undefined) return running < maxAtOnce ? { kind: 'begin', target } : { kind: 'wait' };
  const held = open.find(isPending);
  const isInTheWay = onFailures === 'pause' || targets.some(mayStart);
  return held !== undefined && isInTheWay && running === 0 ? { kind: 'decide', held } : idle;
}

const mayStart = (target: TargetResult): boolean => isPending(target) && target.heldByEvent === null;

/** Returns the servers without an outcome in the first wave that has any. */
export function openOfCurrentWave(targets: readonly TargetResult[]): TargetResult[] {
  const open = targets.filter(({ outcome }) => outcome === null);
  return open.filter(({ wave }) => wave === open[0]?.wave);
}

/** Returns the held servers of the current wave if all other servers of it have ended, else none. */
export function onlyHeldServers(targets: readonly TargetResult[]): TargetResult[] {
  const open = openOfCurrentWave(targets);
  return open.every(({ heldByEvent }) => heldByEvent !== null) ? open.filter(isPending) : [];
}

/** The author of a stop because of a restore of Temporal's database. */
export const RESTORED = 'BELAY_EPOCH';

/** The decision that keeps a stopping rollout from starting more servers. */
export function stopIn(decisions: readonly Decision[]): Decision | undefined {
  return decisions.findLast(({ action }) => action === 'abort' || action === 'stop');
}

export function lastPause(decisions: readonly Decision[]): Decision | undefined {
  return decisions.findLast(({ action }) => action === 'pause');
}

/** Counts the servers that were started and ended without being `completed`. */
export function failuresIn(targets: readonly TargetResult[]): number {
  return targets.filter(({ startedAt, outcome }) => startedAt !== null && outcome !== null && outcome !== 'completed')
    .length;
}

const FIELDS = { pause: ['by', 'reason'], resume: ['by', 'reason', 'serverId'], abort: ['by', 'reason'] };
export type DecisionName = keyof typeof FIELDS;

/** A misspelt `serverId` would decide about the whole rollout. @returns what is wrong with a decision, or null */
export function problemOfDecision(name: DecisionName, decision: unknown): string | null {
  const given = isRecord(decision) ? decision : {};
  const unknown = Object.keys(given).find((it) => !FIELDS[name].includes(it));
  if (unknown !== undefined) return `${unknown}: is not a field of ${name}: use ${FIELDS[name].join(', ')}`;
  const isFilled = (text: unknown) => typeof text === 'string' && text.trim() !== '';
  if (!isFilled(given.by) || !isFilled(given.reason)) return 'give your name and a reason: { by, reason }';
  if (!Object.hasOwn(given, 'serverId') || isFilled(given.serverId)) return null;
  const what = given.serverId === undefined ? 'undefined' : 'not an id';
  return `serverId: is ${what}: name the server to release, or leave it out to resume the rollout`;
}
