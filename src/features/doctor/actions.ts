/**
 * `belay doctor` checks what a run needs on this machine. It prints a line for each check, with a remedy for a problem.
 */
import colors from 'picocolors';
import { printAnswer, printDocument } from '../../process/json-document.ts';
import { currentEpoch, isServiceConfigured, taskQueue } from '../../config/environment/environment.ts';
import { BelayError, EXIT } from '../../contract/errors.ts';
import type { Check, CheckReport } from '../../cli/doctor-check.ts';
import { DOCTOR } from '../../cli/features.ts';
import { findTemporal } from '../../config/find-temporal.ts';
import { print } from '../../process/print.ts';

export interface DoctorOptions {
  afterRestore?: boolean;
  fix?: boolean;
  for?: 'starter' | 'worker';
  json?: boolean;
}

export async function doctor(options: DoctorOptions): Promise<void> {
  if (options.afterRestore === true) return afterRestore(options);
  // Imported here, because most commands need none of them.
  const [
    { runChecks },
    { serviceChecks, starterCheck },
    { reachServer, temporalChecks },
    { workerChecks },
    { openConnection },
  ] = await Promise.all([
    import('../../cli/doctor-check.ts'),
    import('./service.ts'),
    import('./temporal.ts'),
    import('./worker.ts'),
    import('../../client/transport/open-connection.ts'),
  ]);
  const endpoint = findTemporal();
  const opening = openConnection(endpoint, { lazy: true });
  const reaching = opening.then((connection) => reachServer(connection, endpoint.namespace));
  // It may fail before the first check awaits it; an unhandled rejection would end the process.
  reaching.catch(() => undefined);
  const reach = () => reaching;
  const role = options.for ?? (isServiceConfigured() ? 'worker' : 'starter');
  const checks = [
    ...(role === 'worker' ? [...serviceChecks(), ...(await featureChecks('worker'))] : [starterCheck()]),
    ...temporalChecks(endpoint, reach),
    ...workerChecks(reach, taskQueue()),
    ...(await featureChecks('any')),
  ];
  const show = (report: CheckReport) => options.json !== true && print(reportLine(report));
  const reports = await runChecks(checks, options.fix === true, show);
  if (options.json === true) printDocument({ checks: reports });
  await opening.then((connection) => connection.close()).catch(() => undefined);
  process.exitCode = reports.some(({ state }) => state === 'failed') ? EXIT.usage : EXIT.completed;
}

const featureChecks = async (role: 'worker' | 'any'): Promise<Check[]> =>
  (await Promise.all(DOCTOR.filter(({ on }) => on === role).map(({ checks }) => checks()))).flat();

async function afterRestore({ fix, json: asJson }: DoctorOptions): Promise<void> {
  if (fix === true) throw new BelayError('Usage', '--after-restore changes nothing: omit --fix');
  const [{ findUndecided }, { openSession }] = await Promise.all([
    import('./after-restore.ts'),
    import('../../client/session.ts'),
  ]);
  const { session, close } = await openSession({});
  const reports = await findUndecided(session, currentEpoch()).finally(close);
  printAnswer(asJson, { checks: reports }, reports.map(reportLine));
}

const SIGNS = {
  ok: colors.green('ok       '),
  warning: colors.yellow('warning  '),
  failed: colors.red('failed   '),
  skipped: 'skipped  ',
} as const;

function reportLine({ name, state, message, remedy }: CheckReport): string {
  return `${SIGNS[state]}  ${name}: ${message}${remedy === undefined ? '' : `\n             ${remedy}`}`;
}
