/** The names in belay.yaml, for shell completion. Reads what is there, because the file may be unfinished. */
import { readFile } from 'node:fs/promises';
import { LineCounter } from 'yaml';
import { isRecord } from '../contract/plain-object.ts';
import { configFile } from '../config/environment/environment.ts';
import { parseFile } from '../config/file/yaml-source.ts';

/** A name, and where it belongs. */
export interface NameInFile {
  name: string;
  place: string;
}

export interface NamesInFile {
  servers: NameInFile[];
  sites: NameInFile[];
  apps: NameInFile[];
  rollouts: NameInFile[];
  sources: NameInFile[];
}

/** @returns no names if the file is missing or is not YAML */
export async function readNames(): Promise<NamesInFile> {
  const text = await readFile(configFile().path, 'utf8').catch(() => '');
  const file = parseFile(text, new LineCounter());
  return namesIn('broken' in file ? null : file.content);
}

function namesIn(content: unknown): NamesInFile {
  const servers = entries(content, 'fleets').flatMap(([fleet, it]) =>
    entries(it, 'servers').map(([name, server]) => ({ name, place: `fleet ${fleet}`, server })),
  );
  const targets = (key: 'sites' | 'apps') =>
    servers.flatMap(({ name: serverId, place, server }) =>
      items(server, key).map((name) => ({ name, place: `server ${serverId}, ${place}` })),
    );
  return {
    servers: servers.map(({ name, place }) => ({ name, place })),
    sites: targets('sites'),
    apps: targets('apps'),
    rollouts: entries(content, 'rollouts').map(([name, it]) => ({ name, place: fleetOf(it) })),
    sources: entries(at(content, 'events'), 'sources').map(([name]) => ({ name, place: '' })),
  };
}

const at = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined);

function entries(value: unknown, key: string): [string, unknown][] {
  const found = at(value, key);
  return isRecord(found) ? Object.entries(found) : [];
}

function items(value: unknown, key: string): string[] {
  const found = at(value, key);
  return Array.isArray(found) ? found.filter((it) => typeof it === 'string' || typeof it === 'number').map(String) : [];
}

function fleetOf(rollout: unknown): string {
  const fleet = at(rollout, 'fleet');
  return typeof fleet === 'string' ? `fleet ${fleet}` : '';
}
