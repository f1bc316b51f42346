/** Puts the commands together, and reports the error when one fails. */
import { Command, CommanderError } from 'commander';
import { cancelCommand, configCommands, listCommand, runCommands, statusCommand, waitCommand } from './commands.ts';
import { demoCommand, devCommand, programCommands } from './program-commands.ts';
import { addCompletion } from './completion.ts';
import { featureCommands } from './features.ts';
import { addShortForms, environmentHelp, groupOptions } from './help.ts';
import { EXIT, exitCodeOfResult, BelayError } from '../contract/errors.ts';
import { printNote } from '../process/print.ts';
import { printFailure, startDocument } from '../process/json-document.ts';
import { resultOfError } from './run-text.ts';
import { refuseRepeated } from './options.ts';
import { VERSION } from '../process/version.ts';

/** The command line, ready to parse arguments. */
export function program(): Command {
  const belay = new Command('belay')
    .description('Back up a server, wait until the backup is complete, then deploy its sites. Runs on Temporal.')
    .version(VERSION);
  for (const [heading, commands] of Object.entries(commandGroups())) {
    belay.commandsGroup(heading);
    for (const command of commands) belay.addCommand(command);
  }
  for (const command of [belay, ...belay.commands, ...belay.commands.flatMap((it) => it.commands)]) {
    command.exitOverride().configureOutput({ outputError: () => undefined });
    refuseRepeated(command);
    addShortForms(command);
    groupOptions(command);
  }
  addCompletion(belay);
  return belay
    .configureHelp({ subcommandTerm: (command) => command.name() })
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

/** `belay schedule apply`, as far as it is the name of a command. */
function nameOfCommand(args: readonly string[]): string {
  const names = ['belay'];
  let command = program();
  for (const arg of args) {
    const next = command.commands.find((it) => it.name() === arg);
    if (next === undefined) break;
    names.push(arg);
    command = next;
  }
  return names.join(' ');
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
    return fail(new BelayError('Usage', `${sentence} See \`${nameOfCommand(args)} --help\`.`), args);
  }
  const result = resultOfError(error);
  printFailure(result, asJson);
  return exitCodeOfResult(result);
}

/** Runs the command given by the arguments. @returns its exit code */
export async function executeCommand(args: string[]): Promise<number> {
  startDocument();
  try {
    await program().parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? EXIT.completed);
  } catch (error) {
    return fail(error, args);
  }
}

/** Runs the command of this process, and ends it. */
export async function main(): Promise<void> {
  let lost: string | null = null;
  const note = (error?: NodeJS.ErrnoException | null) => {
    // The reader may have closed the pipe, because it has what it needs.
    const isClosed = error?.code === 'EPIPE' || error?.code === 'ERR_STREAM_DESTROYED';
    if (error && !isClosed) lost ??= error.message;
  };
  process.stdout.on('error', note);
  process.stderr.on('error', () => undefined);
  const end = (error?: NodeJS.ErrnoException | null) => {
    note(error);
    if (lost !== null) {
      printNote(`belay: cannot write to stdout: ${lost}`);
      // A verdict other than completed is more than that.
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
