/** Puts the commands together, and reports the error when one fails. */
import { Command, CommanderError } from 'commander';
import { demoCommand } from './commands/demo.ts';
import { devCommand, WEBHOOK_PORT } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { eventsCommand } from './commands/events.ts';
import { environmentHelp } from './output/environment-help.ts';
import { EXIT, exitCodeOf } from './output/exit-codes.ts';
import { listCommand } from './commands/list.ts';
import { waitStatusCancelCommands } from './commands/wait-status-cancel.ts';
import { printFailure, startDocument } from '../process/json-document.ts';
import { resultOfError } from './output/run-text.ts';
import { rolloutCommand } from './commands/rollout.ts';
import { runCommands } from './commands/run.ts';
import { scheduleCommand } from './commands/schedule.ts';
import { parsePort } from './options/parse-values.ts';
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
    })
    .addCommand(demoCommand())
    .addCommand(devCommand())
    .addCommand(
      new Command('worker')
        .description('execute runs from Temporal and call the hosting service; only the worker needs the API token')
        .action(async () => (await import('../worker.ts')).main()),
    )
    .addCommand(
      new Command('webhooks')
        .description('receive webhooks from the hosting service and store them in Temporal')
        .option(
          '--host <address>',
          'address to listen on; any but loopback requires that every source is verified',
          '127.0.0.1',
        )
        .option('--port <port>', 'port to listen on; 0 picks a free port', parsePort, WEBHOOK_PORT)
        .option('--unverified', 'accept unverified deliveries, on loopback only; for testing webhooks')
        .action(async (options: { host: string; port: number; unverified?: boolean }) =>
          (await import('../webhooks.ts')).main(options),
        ),
    )
    .addCommand(
      new Command('codec-server')
        .description('decrypt payloads for the Temporal UI and CLI, with the keys in BELAY_CODEC_KEYS_FILE')
        .option('--host <address>', 'address to listen on; any but loopback requires --token-file', '127.0.0.1')
        .option('--port <port>', 'port to listen on; 0 picks a free port', parsePort, 4182)
        .option('--origin <origin>', 'the Temporal UI whose pages may call it, like https://temporal.example.com')
        .option('--token-file <path>', 'file with the token that callers send as Authorization: Bearer …')
        .option('--unauthenticated', 'ask for no token beyond loopback, behind a proxy that asks for credentials')
        .action(
          async (options: {
            host: string;
            port: number;
            origin?: string;
            tokenFile?: string;
            unauthenticated?: boolean;
          }) => (await import('../codec-server.ts')).main(options),
        ),
    )
    .addCommand(
      new Command('sandbox')
        .description('run only the emulator of the hosting service')
        .option('--host <address>', 'address to listen on; use 0.0.0.0 in a container', '127.0.0.1')
        .option('--port <port>', 'port to listen on; 0 picks a free port', parsePort, 4180)
        .action(async (options: { host: string; port: number }) => (await import('../sandbox.ts')).main(options)),
    );
  for (const command of [
    ...runCommands(),
    ...waitStatusCancelCommands(),
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
