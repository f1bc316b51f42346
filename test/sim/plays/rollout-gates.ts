/** Draws the gate of a played rollout, and what its Prometheus shows. */
import type { Configuration } from '../../../src/config/load.ts';
import type { RolloutInput } from '../../../src/features/rollouts/shapes.ts';
import type { Tape } from '../tape.ts';
import type { World } from '../world.ts';

type Gate = NonNullable<Configuration['gates']>[string];

export const GATE = {
  prometheus: 'http://prometheus:9090',
  ...{ query: 'errors', max: 0.01, interval: 15_000, tries: 6, inARow: 3 },
} satisfies Gate;

export const GATES: Configuration = { gates: { errors: GATE } };

/** What was shown, and when. */
export interface Reading {
  atMs: number;
  state: 'good' | 'bad' | 'none' | 'error';
}

const SHOWN = { good: '0.004', bad: '0.03', none: 'NaN', error: null } as const;
const STATES: Reading['state'][] = ['good', 'good', 'good', 'good', 'good', 'none', 'none', 'error', 'bad'];
const REACTIONS = ['pause', 'stop'] as const;

/** @param waves the first of them gets the gate. @returns what belongs in the input of the rollout */
export function drawGate(tape: Tape, waves: RolloutInput['waves']): Pick<RolloutInput, 'waves' | 'onGates'> {
  if (tape.choose('gated', 2) === 0) return { waves };
  const reaction = (of: string) => REACTIONS[tape.choose(of, REACTIONS.length)]!;
  const after = { bakeMs: 30_000 * tape.choose('bake', 3), gates: ['errors'] };
  return {
    waves: waves.map((wave, index) => (index === 0 ? { ...wave, after } : wave)),
    onGates: { failed: reaction('gate failed'), inconclusive: reaction('gate inconclusive'), patienceMs: 7_200_000 },
  };
}

/** @returns the readings so far */
export function showReadings({ meter, clock }: World, tape: Tape): Reading[] {
  const readings: Reading[] = [];
  meter.shows = () => {
    const state = STATES[tape.choose('reading', STATES.length)]!;
    readings.push({ atMs: clock.nowMs, state });
    return SHOWN[state];
  };
  return readings;
}
