/** What `belay run`, `backup`, `deploy` and `watch` do: they start a run and wait for its verdict. */
import { ciFacts } from '../config/environment/ci-facts.ts';
import { locateKey, readConfiguration } from '../config/load.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf } from '../contract/target.ts';
import type { RunType } from '../contract/names.ts';
import { holdToInventory } from '../config/hold-to-inventory.ts';
import { definedFields } from '../contract/plain-object.ts';
import { BelayError } from '../contract/errors.ts';
import { EXIT } from '../contract/exit-codes.ts';
import { withFacts } from '../request/input/with-facts.ts';
import { toRunInput, type CommanderValues } from './run-options.ts';
import { exceptionsOf, metaNotes, type ExceptionOptions } from './options.ts';
import { printNote } from '../process/print.ts';
import { printResult } from './run-text.ts';
import { captureSignals, noteIfJoined, viewOfRun, waitAndPrint, type WaitingOptions } from './wait-for-verdict.ts';
import { reportEndpoints } from './report-endpoints.ts';
import { openBelay } from './open-belay.ts';

export type StartOptions = CommanderValues &
  WaitingOptions &
  ExceptionOptions & { key?: string; again?: boolean; detach?: boolean; service?: string; dryRun?: boolean };

export async function startAndWait(type: RunType, options: StartOptions): Promise<void> {
  if (options.again === true && options.key === undefined) {
    throw new BelayError('Usage', '--again requires --key');
  }
  const asked = toRunInput(options);
  const input = { ...asked, ...definedFields({ meta: withFacts(asked.meta, ciFacts()) }), ...exceptionsOf(options) };
  if (type !== 'backupOnly' && targetsOf(input).length === 0) {
    throw new BelayError('Usage', 'nothing to deploy is named: give --site ID or --app ID');
  }
  await refuseInventoryConflict(input);
  printNote(metaNotes(asked.meta));
  await reportEndpoints(options.service);
  process.exitCode =
    options.dryRun === true ? await exitCodeOfDryRun(type, input, options) : await exitCodeOfRun(type, input, options);
}

async function exitCodeOfDryRun(type: RunType, input: RunInput, options: StartOptions): Promise<number> {
  const { dryRun, plannedRun } = await import('./dry-run.ts');
  return dryRun(plannedRun(type, input, options.key), options);
}

async function exitCodeOfRun(type: RunType, input: RunInput, options: StartOptions): Promise<number> {
  const belay = await openBelay(definedFields({ service: options.service }));
  const stopping = captureSignals(options);
  const startedMs = Date.now();
  try {
    const { key, again } = options;
    const run = await belay.start(input, {
      type,
      ...(key === undefined ? {} : { key }),
      ...(again === undefined ? {} : { again }),
    });
    if (options.detach !== true)
      return await waitAndPrint(run, viewOfRun(belay, run, options.follow), options, { stopping, startedMs });
    const result = { ...(await run.status()).result, attached: run.attached };
    printResult(result, options.json === true);
    noteIfJoined(result, startedMs);
    return EXIT.completed;
  } finally {
    stopping.end();
    await belay.close();
  }
}

/** The worker refuses it as well, by its own file. */
async function refuseInventoryConflict(input: RunInput): Promise<void> {
  const hold = holdToInventory(await readConfiguration());
  const found = hold({ serverId: input.serverId, targets: targetsOf(input) });
  if (found === null) return;
  throw new BelayError('Usage', `${await locateKey(found.path)}: ${found.path.join('.')}: ${found.message}`);
}
