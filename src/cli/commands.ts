/** `belay run`, `backup`, `deploy` and `watch`. */
import { Command } from 'commander';
import type { RunType } from '../contract/names.ts';
import type { RunCommand } from '../request/run-options.ts';
import type { StartOptions } from './actions.ts';
import { addRunOptions } from './run-options.ts';
import { addExceptionOptions, addStartOptions, addWaitOptions, dryRun, examples, follow, json } from './options.ts';

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
      'belay run --server 12 --site 34 --supersede --follow',
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

const deploys = (type: RunType) => type === 'backupThenDeploy' || type === 'deployOnly';

export function runCommands(): Command[] {
  return KINDS.map(({ name, type, description, examples: lines }) => {
    const command = addRunOptions(new Command(name).description(description), name);
    if (type !== 'watchDeployment') addExceptionOptions(command, 'run', deploys(type)).addOption(dryRun());
    if (deploys(type)) command.addOption(follow());
    return addWaitOptions(addStartOptions(command))
      .addOption(json())
      .addHelpText('after', examples(...lines))
      .action(async (options: StartOptions) => (await import('./actions.ts')).startAndWait(type, options));
  });
}
