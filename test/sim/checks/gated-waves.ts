/**
 * S16: after a wave with a gate, nothing starts before as many good measurements as it needs, unless a person resumed
 * the rollout. A gate resumes no rollout that a person has paused. Written from docs/how-to/gate-rollouts.md. Pure.
 */
import type { RolloutInput, RolloutResult } from '../../../src/features/rollouts/shapes.ts';
import { msOf } from '../../model/facts.ts';
import { resultOf } from '../plays/record.ts';
import { GATE, type Reading } from '../plays/rollout-gates.ts';
import { startInput } from '../stack/inspect.ts';
import type { Run } from '../temporal/types.ts';

export function passedUnmeasured(rollout: Run, readings: readonly Reading[]): string[] {
  const gated = startInput<RolloutInput>(rollout).waves.find(({ after }) => after?.gates !== undefined);
  const result = resultOf<RolloutResult>(rollout.outcome);
  if (gated === undefined || result === null) return [];
  return [
    ...tooSoon(result, gated.name, readings),
    ...resumedOthers(result),
    ...failedUnmeasured(result, readings),
  ].map((problem) => `S16: ${problem}`);
}

const isOfGate = (by: string): boolean => by.startsWith('gate:');

function tooSoon({ targets, decisions }: RolloutResult, wave: string, readings: readonly Reading[]): string[] {
  // A held server of the wave was never started.
  const ended = targets.flatMap((it) => (it.wave === wave && it.endedAt !== null ? [msOf(it.endedAt)] : []));
  const endedMs = Math.max(...ended);
  return targets.flatMap(({ wave: own, serverId, startedAt }) => {
    if (own === wave || startedAt === null) return [];
    const isBetween = (ms: number) => ms >= endedMs && ms <= msOf(startedAt);
    const isLetOff = decisions.some(
      ({ action, by, at }) => action === 'resume' && !isOfGate(by) && isBetween(msOf(at)),
    );
    const good = readings.filter(({ state, atMs }) => state === 'good' && isBetween(atMs)).length;
    return isLetOff || good >= GATE.inARow ? [] : [`${serverId} was started after ${good} good measurements`];
  });
}

const resumedOthers = ({ decisions }: RolloutResult): string[] =>
  decisions.flatMap(({ action, by }, index) => {
    const pause = decisions.slice(0, index).findLast((it) => it.action === 'pause');
    return action === 'resume' && isOfGate(by) && pause?.by !== by ? [`${by} resumed the pause of ${pause?.by}`] : [];
  });

const failedUnmeasured = ({ error }: RolloutResult, readings: readonly Reading[]): string[] =>
  error?.type === 'GateFailed' && !readings.some(({ state }) => state === 'bad')
    ? ['ended with GateFailed without a bad measurement']
    : [];
