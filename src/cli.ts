#!/usr/bin/env node
/** Program `belay`: the command line. Each command is a file in commands/; this one tells what went wrong. */
import { Command, CommanderError } from 'commander';
import { demoCommand } from './commands/demo.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { EXIT, exitCodeOf } from './commands/exit.ts';
import { listCommand } from './commands/list.ts';
import { lookCommands } from './commands/look.ts';
import { printFailure, resultOfError } from './commands/output.ts';
import { runCommands } from './commands/run.ts';
import { parsePort } from './commands/values.ts';
import { ConfigError, startedByNpm } from './config.ts';
import { BelayError } from './starter.ts';
import { VERSION } from './version.ts';

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
        .action(async () => (await import('./worker.ts')).main()),
    )
    .addCommand(
      new Command('sandbox')
        .description('run the emulator of the hosting service alone')
        .option('--host <address>', 'to listen on; 0.0.0.0 in a container', '127.0.0.1')
        .option('--port <port>', '0 = any free one', parsePort, 4180)
        .action(async (options: { host: string; port: number }) => (await import('./sandbox.ts')).main(options)),
    );
  for (const command of [...runCommands(), ...lookCommands(), listCommand(), doctorCommand()])
    belay.addCommand(command);
  for (const command of [belay, ...belay.commands]) {
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

/** npm and npx end at SIGTERM without passing it on: what they started then has to notice by itself. */
function endWithNpm(): void {
  const { ppid } = process;
  const look = () => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  };
  const timer = setInterval(look, 250).unref();
}

if (startedByNpm()) endWithNpm();
process.once('uncaughtException', (error) => process.exit(fail(error)));

try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = fail(error);
}
