/** Validates a rollout's input. It can be any JSON, because the Temporal UI can start rollouts. Pure. */
import type { RolloutInput, RolloutTarget, TargetResult } from '../contract/rollout.ts';
import { MAX_AT_ONCE, MAX_TARGETS } from './limits.ts';
import { splitPath } from './option-path.ts';
import { RUN_OPTIONS } from './run-options.ts';
import { validateId } from './validate-id.ts';
import { problemOfIds, validateRunInput } from './validate-run-input.ts';
import { checkTarget } from './validate-targets.ts';
import { problemOfAfter, problemOfOnGates } from './validate-gates.ts';
import { isRecord } from '../contract/plain-object.ts';

/** Names of rollouts, fleets and schedules. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,49}$/;

/** Those of belay.yaml, and those that `belay rollout start` has besides. */
const OPTIONS: readonly string[] = RUN_OPTIONS.filter(
  ({ path, yaml }) => yaml !== null || path === 'commit' || path === 'orNewer',
).map(({ path }) => splitPath(path).group ?? path);

/** @returns the first problem with its path, or null */
export function validateRolloutInput(input: unknown): string | null {
  if (!isRecord(input)) return 'the input is not an object';
  const { name, fleet, key, maxAtOnce, maxFailures, onFailures, options = {}, attempt = 1 } = input;
  for (const [field, value] of Object.entries({ name, fleet })) {
    if (typeof value !== 'string' || !NAME.test(value))
      return `${field}: must be 1 to 50 characters of a-z, 0-9 and "-", not beginning with "-"`;
  }
  if (validateId(key) !== null) return `key: ${validateId(key)}`;
  if (!isCount(maxAtOnce, 1, MAX_AT_ONCE)) return `maxAtOnce: must be a whole number from 1 to ${MAX_AT_ONCE}`;
  if (!isCount(maxFailures, 0)) return 'maxFailures: must be a whole number of at least 0';
  if (!isCount(attempt, 1)) return 'attempt: must be a whole number of at least 1';
  if (onFailures !== 'stop' && onFailures !== 'pause') return 'onFailures: must be stop or pause';
  if (!isRecord(options)) return 'options: is not an object';
  const unknown = Object.keys(options).find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined) return `options.${unknown}: is not an option of a run`;
  return (
    problemOfOnGates(input.onGates) ??
    problemOfPreviousResults(input) ??
    problemOfWaves(input as unknown as RolloutInput, input.waves)
  );
}

function problemOfPreviousResults({ previousResults: previous = [], passedWaves = [] }: Record<string, unknown>) {
  const isResult = (it: Partial<TargetResult> | null) =>
    isRecord(it) && typeof it.serverId === 'string' && Array.isArray(it.deployments) && it.deployments.every(isRecord);
  if (!Array.isArray(previous) || !previous.every(isResult)) return 'previousResults: is not a list of results';
  const isNames = Array.isArray(passedWaves) && passedWaves.every((it) => validateId(it) === null);
  return isNames ? null : 'passedWaves: is not a list of names';
}

function problemOfWaves(
  {
    service,
    epoch,
    options,
    deploysUntil,
    meta,
    heartbeat,
    override,
    noCheck,
    approval,
    previousResults = [],
  }: RolloutInput,
  waves: unknown,
): string | null {
  if (!Array.isArray(waves) || waves.length === 0) return 'waves: is not a list, or is empty';
  if (approval !== undefined && problemOfIds(approval) !== null) return `approval: ${problemOfIds(approval)}`;
  const names = new Set<unknown>();
  const servers = new Set<string>();
  let size = 0;
  for (const [index, wave] of waves.entries()) {
    const { name, targets, approval: asked, after } = isRecord(wave) ? wave : {};
    if (validateId(name) !== null) return `waves[${index}].name: ${validateId(name)}`;
    if (names.has(name)) return `waves[${index}].name: another wave has the name ${String(name)}`;
    names.add(name);
    if (asked !== undefined && validateId(asked) !== null) return `waves[${index}].approval: ${validateId(asked)}`;
    const wrong = problemOfAfter(after);
    if (wrong !== null) return `waves[${index}].after${wrong}`;
    if (!Array.isArray(targets)) return `waves[${index}].targets: is not a list`;
    for (const [place, target] of targets.entries()) {
      const {
        serverId,
        siteIds,
        targets: deployed,
        completedTargets = [],
      } = (isRecord(target) ? target : {}) as Partial<RolloutTarget>;
      const given: unknown = deployed ?? siteIds ?? [];
      const count = Array.isArray(given) ? given.length : 1;
      const type = count === 0 ? 'backupOnly' : 'backupThenDeploy';
      const problem =
        validateRunInput(type, {
          ...options,
          service,
          epoch,
          deploysUntil,
          meta,
          heartbeat,
          override,
          noCheck,
          serverId,
          siteIds,
          targets: deployed,
        }) ?? problemOfCompletedTargets(completedTargets);
      if (problem !== null) return `waves[${index}].targets[${place}]: ${problem}`;
      if (servers.has(serverId ?? '')) return `waves[${index}].targets[${place}]: names server ${serverId} twice`;
      servers.add(serverId ?? '');
      size += Math.max(1, count);
    }
  }
  // A retry may have only gates left.
  if (servers.size === 0 && previousResults.length === 0) return 'waves: contain no server';
  return size > MAX_TARGETS ? `waves: have ${size} targets, at most ${MAX_TARGETS} are allowed` : null;
}

function problemOfCompletedTargets(done: unknown): string | null {
  return Array.isArray(done) && done.every((it) => typeof checkTarget(it) !== 'string')
    ? null
    : 'completedTargets: is not a list of targets';
}

function isCount(value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}
