/** Turns a rollout from belay.yaml into workflow input, server by server. Pure. */
import { ConfigError } from '../../config/environment/config-error.ts';
import { configFile } from '../../config/environment/environment.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import type { RolloutInput, RunOptions } from './shapes.ts';
import type { OnGates } from '../gates/shapes.ts';
import { definedFields, ownEntry } from '../../contract/plain-object.ts';
import type { RolloutConfig } from './config.ts';
import { toRunOptions } from '../../config/file/run-options.ts';
import { resolveCount } from './resolve-count.ts';
import { wavesOf } from './waves.ts';

/** @param asked options beside those of the file. @throws ConfigError if the file has no such rollout */
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
  const options = { ...toRunOptions(rollout), ...asked };
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
