/**
 * `belay doctor` checks what a run needs on this machine. It prints a line for each check, with a remedy for a problem.
 */
import colors from 'picocolors';
import { printAnswer, printDocument } from '../../process/json-document.ts';
import { currentEpoch, isServiceConfigured, taskQueue } from '../../config/environment/environment.ts';
import { BelayError, EXIT } from '../../contract/errors.ts';
import { runChecks, type CheckReport } from '../../cli/doctor-check.ts';
import { findTemporal } from '../../config/find-temporal.ts';
import { print } from '../../process/print.ts';
import { openConnection } from '../../client/transport/open-connection.ts';
import { openSession } from '../../client/session.ts';
import { pastChecks } from '../advice/doctor.ts';
import { reportsCheck } from '../notifications/doctor.ts';
import { sitesCheck } from '../site-checks/doctor.ts';
import { findUndecided } from './after-restore.ts';
import { serviceChecks, starterCheck } from './service.ts';
import { reachServer, temporalChecks } from './temporal.ts';
import { workerChecks } from './worker.ts';

export interface DoctorOptions {
  afterRestore?: boolean;
  fix?: boolean;
  for?: 'starter' | 'worker';
  json?: boolean;
}

export async function doctor(options: DoctorOptions): Promise<void> {
  if (options.afterRestore === true) return afterRestore(options);
  const endpoint = findTemporal();
  const opening = openConnection(endpoint, { lazy: true });
  const reaching = opening.then((connection) => reachServer(connection, endpoint.namespace));
  // It may fail before the first check awaits it; an unhandled rejection would end the process.
  reaching.catch(() => undefined);
  const reach = () => reaching;
  const role = options.for ?? (isServiceConfigured() ? 'worker' : 'starter');
  const checks = [
    ...(role === 'worker' ? [...serviceChecks(), sitesCheck()] : [starterCheck()]),
    ...temporalChecks(endpoint, reach),
    ...workerChecks(reach, taskQueue()),
    ...pastChecks(),
    reportsCheck(),
  ];
  const show = (report: CheckReport) => options.json !== true && print(reportLine(report));
  const reports = await runChecks(checks, options.fix === true, show);
  if (options.json === true) printDocument({ checks: reports });
  await opening.then((connection) => connection.close()).catch(() => undefined);
  process.exitCode = reports.some(({ state }) => state === 'failed') ? EXIT.usage : EXIT.completed;
}

async function afterRestore({ fix, json: asJson }: DoctorOptions): Promise<void> {
  if (fix === true) throw new BelayError('Usage', '--after-restore changes nothing: omit --fix');
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
