/** What tests of gates need: two waves with a gate between them, and a Prometheus that says what they want. */
import type { Configuration } from '../../../../src/config/load.ts';
import type { WaveAfter } from '../../../../src/features/gates/shapes.ts';
import type { RolloutInput, RolloutResult } from '../../../../src/features/rollouts/shapes.ts';
import { servers } from '../../../support/rollouts.ts';
import type { StackOptions, VirtualStack } from '../../stack/stack.ts';
import { backups, begin } from './rollouts-in-flight.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

type Gate = NonNullable<Configuration['gates']>[string];

export const ERRORS: Gate = {
  prometheus: 'http://prometheus:9090',
  query: 'errors{host=~"$servers"}',
  max: 0.01,
  interval: 30_000,
  tries: 20,
  inARow: 5,
};

export const gatedBy = (more: Partial<Gate> = {}, others: NonNullable<Configuration['gates']> = {}): StackOptions => ({
  configuration: { gates: { errors: { ...ERRORS, ...more }, ...others } },
});

/** A canary, then a gate, and then the others. */
export function inTwoWaves(
  stack: VirtualStack,
  more: Partial<RolloutInput> = {},
  after: WaveAfter = { gates: ['errors'] },
) {
  const [canary, ...others] = servers(3);
  const waves = [
    { name: 'canary', after, targets: [canary] },
    { name: 'rest', targets: others },
  ];
  return { canary, others, rollout: begin(stack, [], { waves, ...more }) };
}

export const begunOn = (stack: VirtualStack, targets: { serverId: string }[]): number =>
  targets.reduce((sum, { serverId }) => sum + backups(stack, serverId), 0);

export const actionsOf = ({ decisions }: Pick<RolloutResult, 'decisions'>): string[] =>
  decisions.map(({ action, by }) => `${action} by ${by}`);

export const endsOf = ({ held }: Pick<RolloutResult, 'held'>): [string, string | null][] =>
  held.map(({ name, end }) => [name, end]);

/** Lets time pass until the gate was measured that many times. */
export const measured = (stack: VirtualStack, times: number): Promise<unknown> =>
  stack.until(`${times} measurements`, () => stack.world.meter.asked.length >= times);
