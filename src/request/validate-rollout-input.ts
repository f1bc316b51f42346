/** What is wrong with a rollout's input: the UI can start one with anything. Pure. */
import type { RolloutInput, RolloutTarget, TargetResult } from '../contract/rollout.ts';
import { MAX_AT_ONCE, MAX_SITES, problemOfId, problemOfInput } from './validate-run-input.ts';
import { isRecord } from '../contract/plain-object.ts';

/** Of rollouts, fleets and schedules. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,49}$/;

const OPTIONS = ['backup', 'deploy', 'ifBusy', 'busyTimeoutMs', 'keepGoing'];

/** The first problem in words that name the place, or null. */
export function problemOfRollout(input: unknown): string | null {
  if (!isRecord(input)) return 'the input is not an object';
  const { name, fleet, key, maxAtOnce, maxFailures, onFailures, options = {}, attempt = 1 } = input;
  for (const [field, value] of Object.entries({ name, fleet })) {
    if (typeof value !== 'string' || !NAME.test(value)) return `${field}: must be up to 50 of a-z, 0-9 and "-"`;
  }
  if (problemOfId(key) !== null) return `key: ${problemOfId(key)}`;
  if (!isCount(maxAtOnce, 1, MAX_AT_ONCE)) return `maxAtOnce: must be a whole number from 1 to ${MAX_AT_ONCE}`;
  if (!isCount(maxFailures, 0)) return 'maxFailures: must be a whole number of at least 0';
  if (!isCount(attempt, 1)) return 'attempt: must be a whole number of at least 1';
  if (onFailures !== 'stop' && onFailures !== 'pause') return 'onFailures: must be stop or pause';
  if (!isRecord(options)) return 'options: is not an object';
  const stranger = Object.keys(options).find((option) => !OPTIONS.includes(option));
  if (stranger !== undefined) return `options.${stranger}: is no option of a run`;
  return problemOfBefore(input.before) ?? problemOfWaves(input as unknown as RolloutInput, input.waves);
}

function problemOfBefore(before: unknown): string | null {
  if (before === undefined) return null;
  const isResult = (it: Partial<TargetResult> | null) =>
    isRecord(it) && typeof it.serverId === 'string' && Array.isArray(it.deployments) && it.deployments.every(isRecord);
  return Array.isArray(before) && before.every(isResult) ? null : 'before: is no list of results';
}

function problemOfWaves({ service, options, meta, heartbeat }: RolloutInput, waves: unknown): string | null {
  if (!Array.isArray(waves) || waves.length === 0) return 'waves: is no list, or empty';
  const names = new Set<unknown>();
  const servers = new Set<string>();
  let size = 0;
  for (const [index, wave] of waves.entries()) {
    const { name, targets } = isRecord(wave) ? wave : {};
    if (problemOfId(name) !== null) return `waves[${index}].name: ${problemOfId(name)}`;
    if (names.has(name)) return `waves[${index}].name: another wave is called ${String(name)}, too`;
    names.add(name);
    if (!Array.isArray(targets)) return `waves[${index}].targets: is not a list`;
    for (const [place, target] of targets.entries()) {
      const { serverId, siteIds, done = [] } = (isRecord(target) ? target : {}) as Partial<RolloutTarget>;
      const type = Array.isArray(siteIds) && siteIds.length === 0 ? 'backupOnly' : 'backupThenDeploy';
      const problem =
        problemOfInput(type, { ...options, service, meta, heartbeat, serverId, siteIds }) ?? problemOfDone(done);
      if (problem !== null) return `waves[${index}].targets[${place}]: ${problem}`;
      if (servers.has(serverId ?? '')) return `waves[${index}].targets[${place}]: names server ${serverId} twice`;
      servers.add(serverId ?? '');
      size += Math.max(1, siteIds?.length ?? 0);
    }
  }
  if (servers.size === 0) return 'waves: name no server';
  return size > MAX_SITES ? `waves: have ${size} sites, at most ${MAX_SITES} are allowed` : null;
}

function problemOfDone(done: unknown): string | null {
  return Array.isArray(done) && done.every((id) => problemOfId(id) === null) ? null : 'done: is no list of ids';
}

function isCount(value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}
