/** All commands, each a file of its own beside this one; and what is told when one goes wrong. */
import { Command, CommanderError } from 'commander';
import { demoCommand } from './commands/demo.ts';
import { devCommand, WEBHOOK_PORT } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { eventsCommand } from './commands/events.ts';
import { EXIT, exitCodeOf } from './output/exit-codes.ts';
import { listCommand } from './commands/list.ts';
import { lookCommands } from './commands/wait-status-cancel.ts';
import { printFailure } from '../process/json-document.ts';
import { resultOfError } from './output/run-text.ts';
import { rolloutCommand } from './commands/rollout.ts';
import { runCommands } from './commands/run.ts';
import { scheduleCommand } from './commands/schedule.ts';
import { parsePort } from './options/parse-values.ts';
import { ConfigError } from '../config/environment/environment.ts';
import { BelayError } from '../contract/results/belay-error.ts';
import { VERSION } from '../process/version.ts';

const asJson = process.argv.includes('--json');

function program(): Command {
  const belay = new Command('belay')
    .description('Backs a server up, waits until the backup is really complete, then deploys its sites. On Temporal.')
    .version(VERSION)
    .addCommand(demoCommand())
    .addCommand(devCommand())
    .addCommand(
      new Command('worker')
        .description('take runs from Temporal and talk to the hosting service; the only holder of its token')
        .action(async () => (await import('../worker.ts')).main()),
    )
    .addCommand(
      new Command('webhooks')
        .description('receive the webhooks of the hosting service and hand them to Temporal')
        .option('--host <address>', 'to listen on; beyond this machine only verified senders are taken', '127.0.0.1')
        .option('--port <port>', '0 = any free one', parsePort, WEBHOOK_PORT)
        .action(async (options: { host: string; port: number }) => (await import('../webhooks.ts')).main(options)),
    )
    .addCommand(
      new Command('sandbox')
        .description('run the emulator of the hosting service alone')
        .option('--host <address>', 'to listen on; 0.0.0.0 in a container', '127.0.0.1')
        .option('--port <port>', '0 = any free one', parsePort, 4180)
        .action(async (options: { host: string; port: number }) => (await import('../sandbox.ts')).main(options)),
    );
  for (const command of [
    ...runCommands(),
    ...lookCommands(),
    listCommand(),
    rolloutCommand(),
    scheduleCommand(),
    eventsCommand(),
    doctorCommand(),
  ])
    belay.addCommand(command);
  for (const command of [belay, ...belay.commands, ...belay.commands.flatMap((it) => it.commands)]) {
    command.exitOverride().configureOutput({ outputError: () => undefined });
  }
  return belay;
}

/** Whatever happens, one document on stdout with --json, else one clear message on stderr; and the exit code. */
function fail(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version are printed by then.
    if (error.exitCode === 0) return EXIT.completed;
    if (error.code === 'commander.help') return EXIT.usage;
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    return fail(new BelayError('Usage', `${message} See \`belay --help\`.`));
  }
  if (error instanceof ConfigError) return fail(new BelayError('Usage', error.message));
  const result = resultOfError(error);
  printFailure(result, asJson);
  return exitCodeOf(result);
}

/** Runs the command that the arguments name. */
export async function main(): Promise<void> {
  // Whoever read it has gone; the verdict is the exit code all the same.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.once('uncaughtException', (error) => process.exit(fail(error)));
  try {
    await program().parseAsync();
  } catch (error) {
    process.exitCode = fail(error);
  }
  // A connection to a server that hangs would keep the process for half a minute.
  process.stdout.write('', () => process.exit());
  process.stdout.once('error', () => process.exit());
}
