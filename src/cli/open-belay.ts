/** Opens a connection for one command. It loads the client only then, so that wrong arguments are reported at once. */
import type { Belay, ConnectOptions } from '../starter.ts';
import { configuredService } from '../config/configured-service.ts';
import { identityFrom } from '../config/environment/environment.ts';
import { findTemporal, ORIGIN_TEXTS } from '../config/find-temporal.ts';
import { printNote } from '../process/print.ts';

export async function withBelay<T>(act: (belay: Belay) => Promise<T>, options?: ConnectOptions): Promise<T> {
  const { connect } = await import('../starter.ts');
  const belay = await connect(options);
  try {
    return await act(belay);
  } finally {
    await belay.close();
  }
}

/* Reports on stderr which Temporal and which service a command uses, if it could have been others. */

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

/** Null if the service is not known, because the command itself then reports why. */
const servedByWorkers = (): Promise<string | null> => withBelay((belay) => belay.findService()).catch(() => null);

/* For commands that take several servers, sites or apps, and do the same with each of them. */

/**
 * Acts on one item after another. If an action fails, the user learns which ones were done before it.
 * @param done names a result in that report
 */
export async function inTurn<T, R>(
  items: readonly T[],
  act: (item: T) => Promise<R>,
  done: (result: R) => string,
): Promise<R[]> {
  const results: R[] = [];
  try {
    for (const item of items) results.push(await act(item));
    return results;
  } catch (error) {
    printNote(results.map((it) => `done before it failed: ${done(it)}`));
    throw error;
  }
}
