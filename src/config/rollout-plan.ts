/** Turns a rollout of belay.yaml into the input of the workflow, server by server: the order of waves is decided here. */
import { ConfigError } from './environment/variables.ts';
import { configFile } from './environment/environment.ts';
import type { Configuration } from './file/file-schema.ts';
import type { RolloutInput, RunOptions, RolloutTarget, RolloutWave } from '../features/rollouts/shapes.ts';
import type { OnGates } from '../features/gates/shapes.ts';
import { definedFields, ownEntry } from '../contract/plain-object.ts';
import type { FleetConfig } from './file/fleets.ts';
import { toRunOptions } from './file/run-options.ts';
import { targetsInput } from '../contract/target.ts';
import { targetsOn } from './inventory.ts';

type RolloutConfig = NonNullable<Configuration['rollouts']>[string];

/**
 * Returns the input of a rollout that `belay.yaml` defines, without a key.
 *
 * @param asked options that override those of the file; one that is undefined overrides nothing
 * @throws BelayError of type `Usage` if the file has no such rollout
 */
export function planRollout(
  { fleets = {}, rollouts = {} }: Pick<Configuration, 'fleets' | 'rollouts'>,
  name: string,
  asked: RunOptions = {},
): Omit<RolloutInput, 'key'> {
  const rollout = ownEntry(rollouts, name);
  const fleet = ownEntry(fleets, rollout?.fleet ?? '');
  if (rollout === undefined || fleet === undefined) {
    const known = Object.keys(rollouts).join(', ') || 'none: add it under rollouts';
    throw new ConfigError(`${configFile().path} has no rollout ${name}; it has ${known}`);
  }
  const options = { ...toRunOptions(rollout), ...definedFields(asked) };
  return {
    name,
    fleet: rollout.fleet,
    waves: wavesOf(fleet, rollout.waves),
    maxAtOnce: rollout.maxAtOnce ?? 1,
    maxFailures: resolveCount(rollout.maxFailures ?? 0, fleet.servers.size),
    onFailures: rollout.onFailures ?? 'stop',
    ...(rollout.onGates === undefined ? {} : { onGates: onGatesOf(rollout.onGates) }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...dailyDeadline(rollout),
  };
}

const onGatesOf = ({ patience, ...on }: NonNullable<RolloutConfig['onGates']>): OnGates =>
  definedFields({ ...on, patienceMs: patience });

export function dailyDeadline(config: { deploysUntil?: string | undefined; timeZone?: string | undefined }) {
  const { deploysUntil: time, timeZone = 'UTC' } = config;
  return time === undefined ? {} : { deploysUntil: { time, timeZone } };
}

type WaveConfig = NonNullable<RolloutConfig['waves']>[number];

/** The last wave takes the servers that no other wave takes. */
export const REMAINING = 'remaining';

/** Keeps the order of the file. A wave is empty if earlier waves took all of its servers. */
export function wavesOf({ servers }: FleetConfig, waves: WaveConfig[] = []): RolloutWave[] {
  const all = [...servers].map(([serverId, server]) => ({
    target: { serverId, ...targetsInput(targetsOn(server)) } satisfies RolloutTarget,
    labels: server.labels ?? {},
  }));
  let left = all;
  const taken = waves.map((wave, index) => {
    const fitting = left.filter(({ labels }) => hasAll(labels, wave.labels));
    const size = wave.servers === undefined ? fitting.length : sizeOf(wave.servers, all.length);
    const chosen = new Set(fitting.slice(0, size));
    left = left.filter((it) => !chosen.has(it));
    const { name = `wave-${index + 1}`, approval, after } = wave;
    const follows = after === undefined ? undefined : definedFields({ bakeMs: after.bake, gates: after.gates });
    return { name, ...definedFields({ approval, after: follows }), targets: [...chosen].map(({ target }) => target) };
  });
  const rest = { name: waves.length === 0 ? 'all' : REMAINING, targets: left.map(({ target }) => target) };
  return rest.targets.length === 0 ? taken : [...taken, rest];
}

/** A percentage is at least one server: 1% of ten servers is one. */
function sizeOf(size: NonNullable<WaveConfig['servers']>, servers: number): number {
  return typeof size === 'number' ? size : Math.max(1, resolveCount(size, servers));
}

function hasAll(labels: Record<string, string>, wanted: Record<string, string> = {}): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** Rounds down: 3% of 10 servers is 0. @param value a number, or a percentage like `3%` */
export function resolveCount(value: number | string, servers: number): number {
  return typeof value === 'number'
    ? value
    : Math.floor(Number(((Number.parseFloat(value) * servers) / 100).toFixed(6)));
}
