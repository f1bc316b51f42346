/** Reports on stderr which Temporal and which service a command uses, if it could have been others. */
import { configuredService } from '../config/configured-service.ts';
import { identityFrom } from '../config/environment/environment.ts';
import { findTemporal, ORIGIN_TEXTS } from '../config/find-temporal.ts';
import { printNote } from '../process/print.ts';
import { withBelay } from './open-belay.ts';

/** Call it before the command starts something. @param option the value of `--service` */
export async function reportEndpoints(option: string | undefined): Promise<void> {
  const { connectionOptions, namespace, origin, isOneOfSeveral } = findTemporal();
  const fromOption = option === undefined ? [] : [identityFrom('--service', option)];
  const named = [...fromOption, ...(await configuredService()).named];
  if (!isOneOfSeveral && new Set(named).size <= 1) return;
  const service = named[0] ?? (await servedByWorkers()) ?? 'of its workers';
  const temporal = `Temporal ${connectionOptions.address} (${ORIGIN_TEXTS[origin]})`;
  printNote(`Using ${temporal}, namespace ${namespace}, service ${service}`);
}

/** Null if it is unknown: the command itself then reports why. */
const servedByWorkers = (): Promise<string | null> => withBelay((belay) => belay.findService()).catch(() => null);
