/** `belay doctor`: is everything there that a run needs? A line each, with the remedy. */
import { Command } from 'commander';
import colors from 'picocolors';
import { printDocument } from '../../process/json-document.ts';
import { taskQueue } from '../../config/environment/environment.ts';
import { createLogger } from '../../process/log.ts';
import type { Report } from '../doctor/check.ts';
import { findTemporal } from '../../config/temporal/find-temporal.ts';
import { EXIT } from '../output/exit-codes.ts';
import { examples, json } from '../options/add-run-options.ts';

interface DoctorOptions {
  fix?: boolean;
  json?: boolean;
}

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check configuration, service, Temporal, namespace and worker; triggers nothing; exit 2 when one fails',
    )
    .option('--fix', 'mend what can be mended')
    .addOption(json())
    .addHelpText('after', examples('belay doctor', 'belay doctor --fix'))
    .action(doctor);
}

async function doctor(options: DoctorOptions): Promise<void> {
  // Only here: they load the worker, which the other commands have no use for.
  const [{ examine }, { serviceChecks }, { temporalChecks }, { workerCheck }, { installRuntime }, sdk] =
    await Promise.all([
      import('../doctor/check.ts'),
      import('../doctor/service.ts'),
      import('../doctor/temporal.ts'),
      import('../doctor/worker.ts'),
      import('../../worker/sdk-logging.ts'),
      import('@temporalio/worker'),
    ]);
  installRuntime(createLogger('silent'));
  const { connectionOptions, namespace } = findTemporal();
  const { address } = connectionOptions;
  const connecting = sdk.NativeConnection.connect(connectionOptions);
  // Looked at later than it may fail.
  connecting.catch(() => undefined);
  const reach = async () => ({ connection: await connecting, namespace });
  const checks = [...serviceChecks(), ...temporalChecks(address, reach), workerCheck(reach, taskQueue())];
  const show = (report: Report) => options.json !== true && process.stdout.write(`${reportLine(report)}\n`);
  const reports = await examine(checks, options.fix === true, show);
  if (options.json === true) printDocument({ schemaVersion: 1, checks: reports, error: null });
  await connecting.then((connection) => connection.close()).catch(() => undefined);
  process.exitCode = reports.some(({ state }) => state === 'failed') ? EXIT.usage : EXIT.completed;
}

const SIGNS = {
  ok: colors.green('ok       '),
  attention: colors.yellow('attention'),
  failed: colors.red('failed   '),
  skipped: 'skipped  ',
} as const;

function reportLine({ name, state, message, remedy }: Report): string {
  return `${SIGNS[state]}  ${name}: ${message}${remedy === undefined ? '' : `\n             ${remedy}`}`;
}
