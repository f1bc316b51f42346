/** `belay run`, `backup`, `deploy` and `watch`: start a run and wait for its verdict. */
import { Command } from 'commander';
import { placeOf, readConfiguration } from '../../config/load.ts';
import type { RunInput, RunType } from '../../contract/run.ts';
import { contradiction, keyOf, keysOf, registerOf } from '../../config/plan/inventory.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { EXIT } from '../output/exit-codes.ts';
import { inputOf, type RunOptions } from '../options/input.ts';
import * as option from '../options/add-run-options.ts';
import { printResult } from '../output/run-text.ts';
import { holdSignals, viewOfRun, waitAndPrint, type WaitingOptions } from '../waiting/wait-for-verdict.ts';
import { openBelay } from '../waiting/connection.ts';

type Options = RunOptions & WaitingOptions & { key?: string; again?: boolean; detach?: boolean };

const KINDS: {
  name: string;
  type: RunType;
  description: string;
  parts: ((command: Command) => Command)[];
  examples: string[];
}[] = [
  {
    name: 'run',
    type: 'backupThenDeploy',
    description: 'back a server up, wait until that is really complete, then deploy sites and wait for the verdict',
    parts: [
      (command) => command.addOption(option.server()).addOption(option.sites()),
      option.addBackupOptions,
      option.addDeployOptions,
      option.addBusyOptions,
    ],
    examples: [
      'belay run --server 12 --site 34 --site 35',
      'belay run --server 12 --site 34 --key "$GIT_COMMIT" --json',
    ],
  },
  {
    name: 'backup',
    type: 'backupOnly',
    description: 'back a server up and wait until that is really complete',
    parts: [(command) => command.addOption(option.server()), option.addBackupOptions, option.addBusyOptions],
    examples: ['belay backup --server 12', 'belay backup --server 12 --backup-interval 30s --backup-tries 60'],
  },
  {
    name: 'deploy',
    type: 'deployOnly',
    description: 'deploy sites, without a backup, and wait for the verdict',
    parts: [(command) => command.addOption(option.sites()), option.addDeployOptions, option.addBusyOptions],
    examples: ['belay deploy --site 34', 'belay deploy --site 34 --site 35 --keep-going'],
  },
  {
    name: 'watch',
    type: 'watchDeployment',
    description: 'wait for the verdict of a deployment that somebody else starts, a push for one',
    parts: [(command) => command.addOption(option.oneSite()), option.addVerdictOptions],
    examples: ['belay watch --site 34'],
  },
];

export function runCommands(): Command[] {
  return KINDS.map(({ name, type, description, parts, examples }) => {
    const command = new Command(name).description(description);
    for (const add of [...parts, option.addRunOptions, option.addWaitOptions]) add(command);
    return command
      .addOption(option.json())
      .addHelpText('after', option.examples(...examples))
      .action(async (options: Options) => void (process.exitCode = await startAndWait(type, options)));
  });
}

async function startAndWait(type: RunType, options: Options): Promise<number> {
  if (options.again === true && options.key === undefined) {
    throw new BelayError('Usage', '--again starts the run of a key anew: give its --key, too');
  }
  const input = inputOf(options);
  await refuseContradiction(input);
  const belay = await openBelay();
  const stopping = holdSignals(options);
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

/** A site that belongs to another server is not to be deployed after this one's backup. */
async function refuseContradiction({ serverId, siteIds }: RunInput): Promise<void> {
  if (serverId === undefined || siteIds.length === 0) return;
  const { fleets } = await readConfiguration();
  const found = contradiction(registerOf(fleets), serverId, siteIds);
  if (found === null) return;
  const where = `${await placeOf(keysOf(found.place))}: ${keyOf(found.place)}`;
  throw new BelayError('Usage', `${where}: ${found.message}`);
}
