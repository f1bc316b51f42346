/** `belay run`, `backup`, `deploy` and `watch`: start a run and wait for its verdict. */
import { Command } from 'commander';
import { locateKey, readConfiguration } from '../../config/load.ts';
import type { RunInput } from '../../contract/run.ts';
import { targetsOf } from '../../contract/target.ts';
import type { RunType } from '../../contract/names.ts';
import { findInventoryConflict, keyOf, keysOf, buildInventory } from '../../config/plan/inventory.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { EXIT } from '../output/exit-codes.ts';
import { addRunOptions, toRunInput, type CommanderValues } from '../options/add-run-options.ts';
import { addStartOptions, addWaitOptions, examples, json } from '../options/shared.ts';
import { printResult } from '../output/run-text.ts';
import { captureSignals, viewOfRun, waitAndPrint, type WaitingOptions } from '../waiting/wait-for-verdict.ts';
import type { RunCommand } from '../../request/run-options.ts';
import { reportEndpoints } from '../connection/report-endpoints.ts';
import { openBelay } from '../connection/open-belay.ts';

type Options = CommanderValues & WaitingOptions & { key?: string; again?: boolean; detach?: boolean; service?: string };

const KINDS: {
  name: RunCommand;
  type: RunType;
  description: string;
  examples: string[];
}[] = [
  {
    name: 'run',
    type: 'backupThenDeploy',
    description:
      'back up a server, wait until the backup is complete, then deploy sites and apps and wait for the verdict',
    examples: [
      'belay run --server 12 --site 34 --site 35',
      'belay run --server 12 --site 34 --app 7',
      'belay run --server 12 --site 34 --key "$GIT_COMMIT" --json',
    ],
  },
  {
    name: 'backup',
    type: 'backupOnly',
    description: 'back up a server and wait until the backup is complete',
    examples: ['belay backup --server 12', 'belay backup --server 12 --backup-interval 30s --backup-tries 60'],
  },
  {
    name: 'deploy',
    type: 'deployOnly',
    description: 'deploy sites and apps without a backup and wait for the verdict',
    examples: ['belay deploy --site 34', 'belay deploy --site 34 --site 35 --keep-going'],
  },
  {
    name: 'watch',
    type: 'watchDeployment',
    description: 'wait for the verdict of a deployment that Belay does not start, such as one started by a push',
    examples: ['belay watch --site 34'],
  },
];

export function runCommands(): Command[] {
  return KINDS.map(({ name, type, description, examples: lines }) => {
    const command = new Command(name).description(description);
    return addWaitOptions(addStartOptions(addRunOptions(command, name)))
      .addOption(json())
      .addHelpText('after', examples(...lines))
      .action(async (options: Options) => void (process.exitCode = await startAndWait(type, options)));
  });
}

async function startAndWait(type: RunType, options: Options): Promise<number> {
  if (options.again === true && options.key === undefined) {
    throw new BelayError('Usage', '--again requires --key');
  }
  const input = toRunInput(options);
  if (type !== 'backupOnly' && targetsOf(input).length === 0) {
    throw new BelayError('Usage', 'nothing to deploy is named: give --site ID or --app ID');
  }
  await refuseInventoryConflict(input);
  await reportEndpoints(options.service);
  const belay = await openBelay(definedFields({ service: options.service }));
  const stopping = captureSignals(options);
  try {
    const { key, again } = options;
    const run = await belay.start(input, {
      type,
      ...(key === undefined ? {} : { key }),
      ...(again === undefined ? {} : { again }),
    });
    if (options.detach !== true) return await waitAndPrint(run, viewOfRun(run), options, stopping);
    const { result } = await run.status();
    printResult(result, options.json === true);
    return EXIT.completed;
  } finally {
    stopping.end();
    await belay.close();
  }
}

/** A backup of one server does not cover a target on another. */
async function refuseInventoryConflict(input: RunInput): Promise<void> {
  const { serverId } = input;
  const targets = targetsOf(input);
  if (serverId === undefined || targets.length === 0) return;
  const { fleets } = await readConfiguration();
  const found = findInventoryConflict(buildInventory(fleets), serverId, targets);
  if (found === null) return;
  const where = `${await locateKey(keysOf(found.place))}: ${keyOf(found.place)}`;
  throw new BelayError('Usage', `${where}: ${found.message}`);
}
