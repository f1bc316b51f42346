/** What a rollout of belay.yaml does, server by server. Pure. */
import { ConfigError, configFile } from '../environment/environment.ts';
import type { Configuration } from '../file/file-schema.ts';
import { shareOf } from '../file/schema-values.ts';
import type { RolloutInput } from '../../contract/rollout.ts';
import { entry } from '../../contract/plain-object.ts';
import { runOptionsOf } from '../../request/run-options.ts';
import { wavesOf } from './waves.ts';

/** @throws ConfigError where the file has no such rollout */
export function planRollout(
  { fleets = {}, rollouts = {} }: Pick<Configuration, 'fleets' | 'rollouts'>,
  name: string,
): Omit<RolloutInput, 'key'> {
  const rollout = entry(rollouts, name);
  const fleet = entry(fleets, rollout?.fleet ?? '');
  if (rollout === undefined || fleet === undefined) {
    const known = Object.keys(rollouts).join(', ') || 'none: add it under rollouts';
    throw new ConfigError(`${configFile().path} has no rollout ${name}; it has ${known}`);
  }
  const options = runOptionsOf(rollout);
  return {
    name,
    fleet: rollout.fleet,
    waves: wavesOf(fleet, rollout.waves),
    maxAtOnce: rollout.maxAtOnce ?? 1,
    maxFailures: shareOf(rollout.maxFailures ?? 0, fleet.servers.size),
    onFailures: rollout.onFailures ?? 'stop',
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}
