/** What is wrong with a rollout's input: the UI can start one with anything. Pure. */
import type { RolloutInput } from './fleet-contract.ts';
import { MAX_SITES, problemOfId, problemOfInput } from './input.ts';

/** The first problem in words that name the place, or null. */
export function problemOfRollout(input: unknown): string | null {
  if (typeof input !== 'object' || input === null) return 'the input is not an object';
  const { name, fleet, key, waves, maxAtOnce, maxFailures, onFailures, attempt = 1 } = input as Partial<RolloutInput>;
  for (const [field, value] of Object.entries({ name, fleet, key })) {
    const problem = problemOfId(value);
    if (problem !== null) return `${field}: ${problem}`;
  }
  if (!isCount(maxAtOnce, 1)) return 'maxAtOnce: must be a whole number of at least 1';
  if (!isCount(maxFailures, 0)) return 'maxFailures: must be a whole number of at least 0';
  if (!isCount(attempt, 1)) return 'attempt: must be a whole number of at least 1';
  if (onFailures !== 'stop' && onFailures !== 'pause') return 'onFailures: must be stop or pause';
  return problemOfWaves(input as RolloutInput, waves);
}

function problemOfWaves({ options, meta, heartbeat }: RolloutInput, waves: unknown): string | null {
  if (!Array.isArray(waves) || waves.length === 0) return 'waves: is no list, or empty';
  const servers = new Set<string>();
  let size = 0;
  for (const [index, wave] of (waves as Partial<RolloutInput['waves'][number]>[]).entries()) {
    if (problemOfId(wave?.name) !== null) return `waves[${index}].name: ${problemOfId(wave?.name)}`;
    if (waves.findIndex((it: Partial<typeof wave> | null) => it?.name === wave.name) < index) {
      return `waves[${index}].name: another wave is called ${wave.name}, too`;
    }
    if (!Array.isArray(wave.targets)) return `waves[${index}].targets: is not a list`;
    for (const [place, target] of wave.targets.entries()) {
      const { serverId, siteIds } = (target ?? {}) as Partial<typeof target>;
      const type = siteIds?.length === 0 ? 'backupOnly' : 'backupThenDeploy';
      const problem = problemOfInput(type, { ...options, meta, heartbeat, serverId, siteIds });
      if (problem !== null) return `waves[${index}].targets[${place}]: ${problem}`;
      if (servers.has(serverId ?? '')) return `waves[${index}].targets[${place}]: names server ${serverId} twice`;
      servers.add(serverId ?? '');
      size += Math.max(1, siteIds?.length ?? 0);
    }
  }
  if (servers.size === 0) return 'waves: name no server';
  return size > MAX_SITES ? `waves: have ${size} sites, at most ${MAX_SITES} are allowed` : null;
}

const isCount = (value: unknown, min: number): boolean => Number.isSafeInteger(value) && (value as number) >= min;
