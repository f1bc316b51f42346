/** docs/reference/cli.md, from the commands themselves. */
import type { Argument, Command, Option } from 'commander';
import { program } from '../../src/cli/program.ts';
import { block, code, page, table } from './markdown.ts';

export function commandLinePage(): string {
  const belay = program();
  const listed = belay.createHelp().visibleCommands(belay);
  const commands = listed.filter((it) => belay.commands.includes(it)).flatMap(withSubcommands);
  return page(
    '# Commands',
    `${sentence(belay.description())} \`npx belay-deploy COMMAND --help\` prints the same text.`,
    'Durations are written as `500ms`, `10s`, `2m`, `1h`, `7d` or `2w`. A number without a unit means seconds. An option that is not repeatable may be given once. See also' +
      ' [exit codes](exit-codes.md) and [environment variables](environment.md).',
    table(
      ['command', 'what it does'],
      commands.map((it) => [`[${code(nameOf(it))}](#${nameOf(it).replaceAll(' ', '-')})`, sentence(it.description())]),
    ),
    ...commands.map(sectionOf),
  );
}

/** The commands that do something, not those that only group others: these have no options. */
function withSubcommands(command: Command): Command[] {
  const below = command.commands.flatMap(withSubcommands);
  return below.length === 0 || command.options.length > 0 ? [command, ...below] : below;
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function sectionOf(command: Command): string {
  const help = command.createHelp();
  const options = help.visibleOptions(command).filter((it) => it.long !== '--help');
  const examples = examplesOf(command);
  return [
    `## ${nameOf(command)}`,
    sentence(command.description()),
    block('sh', `belay ${[...namesBelow(command), command.usage()].join(' ')}`),
    ...(command.registeredArguments.length === 0
      ? []
      : [table(['argument', 'meaning'], command.registeredArguments.map(argumentRow))]),
    ...(options.length === 0 ? [] : [table(['option', 'meaning', 'default'], options.map(optionRow))]),
    ...(examples === null ? [] : [block('sh', examples)]),
  ].join('\n\n');
}

const namesBelow = (command: Command): string[] => nameOf(command).split(' ').slice(1);

function argumentRow(argument: Argument): string[] {
  return [code(argument.name()), argument.description];
}

function optionRow(option: Option): string[] {
  const notes = [
    ...(option.mandatory ? ['required'] : []),
    ...(option.argChoices === undefined ? [] : [`one of ${option.argChoices.map(code).join(', ')}`]),
  ];
  const [, before = '', inText, after = ''] = /^(.*) \(default: ([^)]*)\)(.*)$/.exec(option.description) ?? [];
  const meaning = [inText === undefined ? option.description : before + after, ...notes].join('; ');
  return [code(option.flags), meaning, defaultText(inText ?? (option.defaultValue as string | undefined))];
}

/** A value as code; what needs words as they are. */
function defaultText(text: string | undefined): string {
  if (text === undefined) return '–';
  return String(text).includes(' ') ? text : code(String(text));
}

/** What a command prints after its options. */
function examplesOf(command: Command): string | null {
  let text = '';
  command.configureOutput({ writeOut: (it) => (text += it) }).outputHelp();
  const [, examples] = /\nExamples?:\n([^]*)$/.exec(text) ?? [];
  return examples === undefined ? null : examples.replaceAll(/^ {2}/gm, '');
}

function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
