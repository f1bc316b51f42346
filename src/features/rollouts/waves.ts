/** Divides the servers of a fleet into waves. Pure. */
import type { FleetConfig, RolloutConfig } from './config.ts';
import { resolveCount } from './resolve-count.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { targetsInput } from '../../contract/target.ts';
import { targetsOn } from '../../config/inventory.ts';
import type { RolloutTarget, RolloutWave } from './shapes.ts';

type WaveConfig = NonNullable<RolloutConfig['waves']>[number];

/** Name of the last wave, with the servers that no wave takes. */
export const REMAINING = 'remaining';

/** Keeps the order of the file. A wave may be empty if earlier waves took all its servers. */
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
