/** Puts the commands together, and reports the error when one fails. */
import { Command, CommanderError } from 'commander';
import { adviceCommand } from './commands/advice.ts';
import { approvalCommands } from './commands/policy/approvals.ts';
import { checkCommand } from './commands/policy/check.ts';
import { demoCommand } from './commands/demo.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { gatesCommand } from './commands/policy/gates.ts';
import { freezeCommands } from './commands/policy/freeze.ts';
import { eventsCommand } from './commands/events.ts';
import { addCompletion } from './completion/add-completion.ts';
import { environmentHelp } from './output/environment-help.ts';
import { EXIT, exitCodeOf } from './output/exit-codes.ts';
import { listCommand } from './commands/list.ts';
import { waitStatusCancelCommands } from './commands/wait-status-cancel.ts';
import { printFailure, startDocument } from '../process/json-document.ts';
import { resultOfError } from './output/run-text.ts';
import { programCommands } from './commands/programs.ts';
import { receiptCommand } from './commands/receipt.ts';
import { rolloutCommand } from './commands/rollout.ts';
import { runCommands } from './commands/run.ts';
import { scheduleCommand } from './commands/schedule.ts';
import { topCommand } from './commands/top.ts';
import { ConfigError } from '../config/environment/config-error.ts';
import { BelayError } from '../contract/results/belay-error.ts';
import { VERSION } from '../process/version.ts';

/** The command line, ready to parse arguments. */
export function program(): Command {
  const belay = new Command('belay')
    .description('Back up a server, wait until the backup is complete, then deploy its sites. Runs on Temporal.')
    .version(VERSION)
    .addHelpText('after', ({ command }) => {
      const help = command.createHelp();
      help.prepareContext({ helpWidth: process.stdout.columns ?? 120 });
      return environmentHelp(help);
    });
  for (const command of [
    demoCommand(),
    devCommand(),
    ...programCommands(),
    ...runCommands(),
    ...waitStatusCancelCommands(),
    listCommand(),
    topCommand(),
    receiptCommand(),
    adviceCommand(),
    rolloutCommand(),
    scheduleCommand(),
    ...freezeCommands(),
    ...approvalCommands(),
    eventsCommand(),
    checkCommand(),
    gatesCommand(),
    doctorCommand(),
  ])
    belay.addCommand(command);
  for (const command of [belay, ...belay.commands, ...belay.commands.flatMap((it) => it.commands)]) {
    command.exitOverride().configureOutput({ outputError: () => undefined });
  }
  addCompletion(belay);
  return belay;
}

/** Prints every error the same way: one document on stdout with --json, else one line on stderr. @returns the exit code */
function fail(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError) {
    // Commander has printed the help or the version by now.
    if (error.exitCode === 0) return EXIT.completed;
    if (error.code === 'commander.help') return EXIT.usage;
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    return fail(new BelayError('Usage', `${message} See \`belay --help\`.`), asJson);
  }
  if (error instanceof ConfigError) return fail(new BelayError('Usage', error.message), asJson);
  const result = resultOfError(error);
  printFailure(result, asJson);
  return exitCodeOf(result);
}

/** Runs the command given by the arguments. @returns its exit code */
export async function execute(args: string[]): Promise<number> {
  startDocument();
  try {
    await program().parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? EXIT.completed);
  } catch (error) {
    return fail(error, args.includes('--json'));
  }
}

/** Runs the command of this process, and ends it. */
export async function main(): Promise<void> {
  // The reader may have closed the pipe. The exit code still carries the verdict.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.once('uncaughtException', (error) => process.exit(fail(error, process.argv.includes('--json'))));
  process.exitCode = await execute(process.argv.slice(2));
  // Without this, a connection to a server that hangs would keep the process running for half a minute.
  process.stdout.write('', () => process.exit());
  process.stdout.once('error', () => process.exit());
}
