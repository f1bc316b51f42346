/** `belay complete`: prints the completion script of a shell, and answers the requests that the script sends on TAB. */
import type { Command } from 'commander';
import tab from '@bomb.sh/tab/commander';
import { readNames, type NameInFile, type NamesInFile } from './names-in-file.ts';
import { plainText, shellWord } from '../contract/safe-text.ts';

/** Which names in belay.yaml are the values of an option. */
const OPTIONS = { server: 'servers', site: 'sites', app: 'apps', source: 'sources' } as const;

/** Call it last: it reads the commands and options of the program, and their settings. */
export function addCompletion(belay: Command): void {
  const { commands } = tab(belay);
  let names: NamesInFile | null = null;
  const suggest = (kind: keyof NamesInFile) => (complete: (value: string, description: string) => void) => {
    for (const { name, place } of safeNames(names?.[kind] ?? [])) complete(name, place);
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
    .description('print the script that completes commands, options and the names in belay.yaml on TAB')
    .usage('<shell>')
    .hook('preAction', async () => void (names = await readNames()));
  for (const argument of command.registeredArguments) argument.description = 'bash, fish, powershell or zsh';
}

/** Bash expands a suggestion as it expands a command, so a name that needs quotes is never suggested. */
function safeNames(names: NameInFile[]): NameInFile[] {
  return names
    .filter(({ name }) => shellWord(name) === name)
    .map(({ name, place }) => ({ name, place: plainText(place) }));
}
