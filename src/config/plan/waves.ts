/** Which servers of a fleet go in which wave. Pure. */
import type { FleetConfig, RolloutConfig } from '../file/fleet-schema.ts';
import { shareOf } from '../file/schema-values.ts';
import type { RolloutTarget, RolloutWave } from '../../contract/rollout.ts';

type WaveConfig = NonNullable<RolloutConfig['waves']>[number];

/** The servers that no wave takes. */
export const REST = 'rest';

/** In the order of the file. One wave may be left empty by those before it. */
export function wavesOf({ servers }: FleetConfig, waves: WaveConfig[] = []): RolloutWave[] {
  const all = [...servers].map(([serverId, { sites = [], labels = {} }]) => ({
    target: { serverId, siteIds: sites } satisfies RolloutTarget,
    labels,
  }));
  let left = all;
  const taken = waves.map((wave, index) => {
    const fitting = left.filter(({ labels }) => hasAll(labels, wave.labels));
    const size = wave.servers === undefined ? fitting.length : sizeOf(wave.servers, all.length);
    const chosen = new Set(fitting.slice(0, size));
    left = left.filter((it) => !chosen.has(it));
    return { name: wave.name ?? `wave-${index + 1}`, targets: [...chosen].map(({ target }) => target) };
  });
  const rest = { name: waves.length === 0 ? 'all' : REST, targets: left.map(({ target }) => target) };
  return rest.targets.length === 0 ? taken : [...taken, rest];
}

/** A part is never nobody: 1% of ten servers is one. */
function sizeOf(share: NonNullable<WaveConfig['servers']>, servers: number): number {
  return typeof share === 'number' ? share : Math.max(1, shareOf(share, servers));
}

function hasAll(labels: Record<string, string>, wanted: Record<string, string> = {}): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
