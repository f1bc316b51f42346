/** Puts the commands together, and reports the error when one fails. */
import { Command, CommanderError, type Help, type Option } from 'commander';
import { cancelCommand, configCommands, listCommand, runCommands, statusCommand, waitCommand } from './commands.ts';
import { demoCommand, devCommand, programCommands } from './program-commands.ts';
import { addCompletion } from './completion.ts';
import { featureCommands } from './features.ts';
import { atItsLine } from '../config/load.ts';
import { VARIABLE_SECTIONS, VARIABLES } from '../config/environment/variables.ts';
import { EXIT, exitCodeOfResult, BelayError } from '../contract/errors.ts';
import { printNote } from '../process/print.ts';
import { printFailure, startDocument } from '../process/json-document.ts';
import { resultOfError } from './run-text.ts';
import { refuseOptionsAsValues, refuseRepeated } from './options.ts';
import { VERSION } from '../process/version.ts';

/** The column of options leaves less than 40 of 80 columns, and without wrapping a terminal breaks words. */
const HELP = { subcommandTerm: (command: Command) => command.name(), minWidthToWrap: 20 };

export function program(): Command {
  const belay = new Command('belay')
    .description('Back up a server, wait until the backup is complete, then deploy its sites. Runs on Temporal.')
    .version(VERSION);
  for (const [heading, commands] of Object.entries(commandGroups())) {
    belay.commandsGroup(heading);
    for (const command of commands) belay.addCommand(command);
  }
  for (const command of [belay, ...belay.commands, ...belay.commands.flatMap((it) => it.commands)]) {
    command
      .exitOverride()
      .configureOutput({ outputError: () => undefined })
      .configureHelp(HELP);
    refuseRepeated(command);
    refuseOptionsAsValues(command);
    addShortForms(command);
    groupOptions(command);
  }
  addCompletion(belay);
  return belay
    .helpCommand('help [command]', 'help on a command; `belay help environment`: the variables')
    .addCommand(environmentTopic(), { hidden: true });
}

/** The headings of `belay --help`. What is added later, such as `complete`, goes below the last one. */
function commandGroups(): Record<string, Command[]> {
  const { look, fleets, policy, setUp } = featureCommands();
  return {
    'Run:': [...runCommands(), waitCommand(), cancelCommand()],
    'Look:': [statusCommand(), listCommand(), ...look],
    'Fleets:': fleets,
    'Policy:': policy,
    'Programs:': [demoCommand(), devCommand(), ...programCommands()],
    'Set up:': [...configCommands(), ...setUp],
  };
}

/** For `belay help environment`: a command, because only those have help of their own. */
const environmentTopic = (): Command =>
  new Command('environment')
    .description('list the environment variables')
    .configureHelp({ formatHelp: (_command, help) => environmentHelp(help) })
    .exitOverride()
    .action((_options, command: Command) => command.outputHelp());

/* How help is arranged: options in groups, short forms, and the table of environment variables. */

/** The options of commands that start something: what CI needs comes first. */
const OPTION_GROUPS: Record<string, readonly string[]> = {
  'What to do:': ['--server', '--site', '--app', '--commit', '--or-newer', '--backup-id', '--max-backup-age'],
  'In CI:': [
    ...['--key', '--again', '--json', '--summary', '--meta', '--detach', '--wait-timeout', '--cancel-on-interrupt'],
    ...['--dry-run', '--supersede', '--follow', '--heartbeat', '--service'],
  ],
  'What may hold it back:': [
    ...['--if-busy', '--busy-timeout', '--if-frozen', '--freeze-wait', '--approval'],
    ...['--override-freeze', '--no-check', '--reason'],
  ],
  'Deadlines:': [
    ...['--start-within', '--start-deploys-within', '--max-backup-age-at-deploy', '--baseline-wait'],
    '--outage-budget',
  ],
  'Reading the status:': [
    ...['--backup-interval', '--backup-tries', '--deploy-interval', '--deploy-tries', '--settle', '--min-evidence'],
    ...['--keep-going', '--on-ambiguous', '--waits'],
  ],
};

/** `--json` has no short form, because a failure looks for the word `--json` among the arguments. */
const SHORT_FORMS: Record<string, string> = {
  '--server': '-S',
  '--site': '-s',
  '--app': '-a',
  '--commit': '-c',
  '--key': '-k',
  '--meta': '-m',
  '--detach': '-d',
  '--dry-run': '-n',
};

/** Call it before completion is added, which reads the options. */
function addShortForms(command: Command): void {
  for (const option of command.options) {
    const short = SHORT_FORMS[option.long ?? ''];
    if (short === undefined) continue;
    option.short = short;
    option.flags = `${short}, ${option.flags}`;
  }
}

function groupOptions(command: Command): void {
  const startsSomething = command.options.some(({ long }) => long === '--meta');
  if (!startsSomething) return;
  const order = Object.values(OPTION_GROUPS).flat();
  const place = ({ long }: Option) => order.indexOf(long ?? '');
  (command.options as Option[]).sort((a, b) => place(a) - place(b));
  for (const option of command.options) {
    const [heading] = Object.entries(OPTION_GROUPS).find(([, names]) => names.includes(option.long ?? '')) ?? [];
    if (heading !== undefined) option.helpGroup(heading);
  }
}

function environmentHelp(help: Help): string {
  const width = Math.max(...VARIABLES.map(({ name }) => name.length));
  const sections = VARIABLE_SECTIONS.map(({ title, rows }) => {
    const lines = rows.map((row) => help.formatItem(row.name, width, plain(`${row.meaning}${defaultText(row)}`), help));
    return `${plain(title)}:\n${lines.join('\n')}\n`;
  });
  return sections.join('\n');
}

function defaultText(row: (typeof VARIABLES)[number]): string {
  if ('default' in row) return ` (default: ${row.default})`;
  return 'fallback' in row ? ` (default: ${row.fallback})` : '';
}

/** A terminal shows no Markdown. */
const plain = (markdown: string): string => markdown.replaceAll('`', '');

/* Runs a command, and reports the error when it fails. */

/** The first arguments, as far as they name a command, such as `schedule apply`. */
function namedCommand(args: readonly string[]): { names: string[]; command: Command } {
  const names: string[] = [];
  let command = program();
  for (const arg of args) {
    const next = command.commands.find((it) => it.name() === arg);
    if (next === undefined) break;
    names.push(arg);
    command = next;
  }
  return { names, command };
}

const isHelp = (arg: string): boolean => ['help', '--help', '-h'].includes(arg);

/**
 * Turns `help nope` and `nope --help` into `nope`, whose error names it and what was probably meant. Commander would
 * print the whole help and name nothing.
 */
function withoutUnknownTopic(args: readonly string[]): readonly string[] {
  if (!args.some(isHelp)) return args;
  const { names, command } = namedCommand(args);
  const topics = command.commands.map((it) => it.name());
  const topic = args.slice(names.length).find((arg) => !isHelp(arg));
  const isKnown = topic === undefined || topic.startsWith('-') || topics.includes(topic);
  return isKnown || topics.length === 0 ? args : [...names, topic];
}

/** Prints every error the same way: one document on stdout with --json, else one line on stderr. @returns the exit code */
function fail(error: unknown, args: readonly string[]): number {
  const asJson = args.includes('--json');
  if (error instanceof CommanderError) {
    // Commander has printed the help or the version by now.
    if (error.exitCode === 0) return EXIT.completed;
    if (error.code === 'commander.help') return EXIT.usage;
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    const sentence = /[.?!)]$/.test(message) ? message : `${message}.`;
    const help = ['belay', ...namedCommand(args).names, '--help'].join(' ');
    return fail(new BelayError('Usage', `${sentence} See \`${help}\`.`), args);
  }
  const result = resultOfError(error);
  printFailure(result, asJson);
  return exitCodeOfResult(result);
}

/** Commander checks required options first: if someone writes `--sever`, it would only say that `--server` is missing. */
function requiringLast(command: Command): Command {
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.makeOptionMandatory(false);
  command.hook('preAction', () => {
    const missing = required.find((it) => command.getOptionValue(it.attributeName()) === undefined);
    if (missing !== undefined) command.error(`required option '${missing.flags}' not specified`);
  });
  command.commands.forEach((it) => void requiringLast(it));
  return command;
}

/** Runs the command given by the arguments. @returns its exit code */
export async function executeCommand(args: string[]): Promise<number> {
  startDocument();
  try {
    await requiringLast(program()).parseAsync(withoutUnknownTopic(args), { from: 'user' });
    return Number(process.exitCode ?? EXIT.completed);
  } catch (error) {
    return fail(await atItsLine(error), args);
  }
}

export async function main(): Promise<void> {
  let writeError: string | null = null;
  const note = (error?: NodeJS.ErrnoException | null) => {
    // The reader may have closed the pipe, because it has what it needs.
    const isClosed = error?.code === 'EPIPE' || error?.code === 'ERR_STREAM_DESTROYED';
    if (error && !isClosed) writeError ??= error.message;
  };
  process.stdout.on('error', note);
  process.stderr.on('error', () => undefined);
  const end = (error?: NodeJS.ErrnoException | null) => {
    note(error);
    if (writeError !== null) {
      printNote(`belay: cannot write to stdout: ${writeError}`);
      // The exit code of a verdict tells more than a failed write.
      process.exitCode ||= EXIT.usage;
    }
    process.exit();
  };
  process.once('uncaughtException', (error) => process.exit(fail(error, process.argv.slice(2))));
  process.exitCode = await executeCommand(process.argv.slice(2));
  // Without this, a connection to a server that hangs would keep the process running for half a minute.
  process.stdout.write('', end);
  process.stdout.once('error', end);
}
