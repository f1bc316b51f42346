/** `belay complete`: prints the completion script of a shell, and answers the requests that the script sends on TAB. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import tab from '@bomb.sh/tab/commander';
import { LineCounter } from 'yaml';
import { plainText, shellWord } from '../contract/safe-text.ts';
import { isRecord } from '../contract/plain-object.ts';
import { configFile } from '../config/environment/environment.ts';
import { parseFile } from '../config/file/yaml-source.ts';

/** Which names in belay.yaml are the values of an option. */
const OPTIONS = { server: 'servers', site: 'sites', app: 'apps', source: 'sources' } as const;

/** Call it last: it reads the commands and options of the program, and their settings. */
export function addCompletion(belay: Command): void {
  const { commands } = tab(belay);
  let names: NamesInFile | null = null;
  const suggest = (kind: keyof NamesInFile) => (complete: (value: string, description: string) => void) => {
    for (const { name, place } of names?.[kind] ?? []) {
      // Bash expands a suggestion as it expands a command, so a name that needs quotes is never suggested.
      if (shellWord(name) === name) complete(name, plainText(place));
    }
  };
  for (const { options } of commands.values()) {
    for (const [option, kind] of Object.entries(OPTIONS)) {
      const found = options.get(option);
      if (found !== undefined) found.handler = suggest(kind);
    }
  }
  const rollout = commands.get('rollout start')?.arguments.get('name');
  if (rollout !== undefined) rollout.handler = suggest('rollouts');
  const command = belay.commands.find((it) => it.name() === 'complete');
  if (command === undefined) return;
  command
    .summary('print the script that completes commands on TAB')
    .description('print the script that completes commands, options and the names in belay.yaml on TAB')
    .usage('<shell>')
    .hook('preAction', async () => void (names = await readNames()));
  for (const argument of command.registeredArguments) argument.description = 'bash, fish, powershell or zsh';
}

/* The names in belay.yaml, for shell completion. Reads what is there, because the file may be unfinished. */

/** Names, and where each of them belongs. */
type NamesInFile = Record<'servers' | 'sites' | 'apps' | 'rollouts' | 'sources', { name: string; place: string }[]>;

/** @returns no names if the file is missing or is not YAML */
async function readNames(): Promise<NamesInFile> {
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
