/** The commands about runs: start them, list them, and wait for one. Also `belay init` and `belay config`. */
import { Command, Option } from 'commander';
import { type RunType, OUTCOMES } from '../contract/names.ts';
import type { RunCommand } from '../request/run-options.ts';
import type { RunFlags, RunListOptions, OneRunOptions } from './actions.ts';
import { addRunOptions, addTargetOptions } from './run-options.ts';
import {
  addExceptionOptions,
  addStartOptions,
  addWaitOptions,
  dryRunOption,
  examples,
  followOption,
  json,
  collectOf,
  RepeatableOption,
  listLimitHelp,
  summary,
  runId,
} from './options.ts';
import { LIMITS } from '../request/limits.ts';
import { choiceOf, durationWithin, parseId, parseLimit } from './parse-values.ts';

const KINDS: {
  name: RunCommand;
  type: RunType;
  summary: string;
  description: string;
  examples: string[];
}[] = [
  {
    name: 'run',
    type: 'backupThenDeploy',
    summary: 'back up a server, then deploy sites and apps',
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
    summary: 'back up a server',
    description: 'back up a server and wait until the backup is complete',
    examples: ['belay backup --server 12', 'belay backup --server 12 --backup-interval 30s --backup-tries 60'],
  },
  {
    name: 'deploy',
    type: 'deployOnly',
    summary: 'deploy sites and apps without a backup',
    description: 'deploy sites and apps without a backup and wait for the verdict',
    examples: ['belay deploy --site 34', 'belay deploy --site 34 --site 35 --keep-going'],
  },
  {
    name: 'watch',
    type: 'watchDeployment',
    summary: 'follow a deployment that something else starts',
    description: 'wait for the verdict of a deployment that Belay does not start, such as one started by a push',
    examples: ['belay watch --site 34'],
  },
];

const deploys = (type: RunType) => type === 'backupThenDeploy' || type === 'deployOnly';

export function runCommands(): Command[] {
  return KINDS.map(({ name, type, summary: short, description, examples: lines }) => {
    const command = addRunOptions(new Command(name).summary(short).description(description), name);
    if (type !== 'watchDeployment') addExceptionOptions(command, 'run', deploys(type)).addOption(dryRunOption());
    if (deploys(type)) command.addOption(followOption());
    return addWaitOptions(addStartOptions(command))
      .addOption(json())
      .addHelpText('after', examples(...lines))
      .action(async (options: RunFlags) => (await import('./actions.ts')).startAndWait(type, options));
  });
}

/* `belay init` and `belay config`: begin belay.yaml, and check it. */

const load = () => import('./config-actions.ts');

export function configCommands(): Command[] {
  const init = new Command('init')
    .summary('write a belay.yaml to begin with')
    .description('write a belay.yaml in which everything is explained, and commented out')
    .argument('[file]', 'file to write (default: BELAY_CONFIG, else belay.yaml)')
    .option('--force', 'replace the file if there is one')
    .addOption(json())
    .addHelpText('after', examples('belay init', 'belay init deploy/belay.yaml'))
    .action(async (file: string | undefined, options: { force?: boolean; json?: boolean }) =>
      (await load()).init(file, options),
    );
  const check = new Command('check')
    .description('check belay.yaml without Temporal, service or secrets; exit 2 and name file and line of a mistake')
    .argument('[file]', 'file to check (default: BELAY_CONFIG, else belay.yaml)')
    .addOption(json())
    .addHelpText('after', examples('belay config check', 'belay config check deploy/belay.yaml --json'))
    .action(async (file: string | undefined, options: { json?: boolean }) => (await load()).check(file, options));
  return [
    init,
    new Command('config')
      .summary('check belay.yaml, also in a pull request')
      .description('check the configuration file')
      .addCommand(check),
  ];
}

/* `belay list`. */

const TARGETS = {
  site: 'only runs that deploy this site (repeatable: one of the sites and apps given)',
  app: 'only runs that deploy this app (repeatable: one of the sites and apps given)',
};

export function listCommand(): Command {
  const command = new Command('list')
    .summary('list runs')
    .description('list runs, newest first; on a terminal, newest last');
  return addTargetOptions(command, TARGETS)
    .addOption(server())
    .addOption(outcome())
    .option('--since <duration>', 'only runs started within this time', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', listLimitHelp('runs'), parseLimit)
    .addOption(summary())
    .addOption(json())
    .addHelpText('after', examples('belay list --since 12h --outcome failed', 'belay list --site 34 --limit 5'))
    .action(async (options: RunListOptions) => (await import('./actions.ts')).list(options));
}

const server = () =>
  new RepeatableOption(
    '--server <id>',
    'only runs that back up this server (repeatable: one of them)',
    collectOf(parseId),
  );

function outcome(): RepeatableOption<string[]> {
  const help = 'only runs with this outcome (repeatable: one of them)';
  const option = new RepeatableOption('--outcome <outcome>', help, collectOf(choiceOf(OUTCOMES)));
  option.argChoices = [...OUTCOMES];
  return option;
}

/* `belay wait`, `status` and `cancel`: for a run or rollout that was started before. */

export function waitCommand(): Command {
  const command = new Command('wait')
    .summary('wait for the verdict of a run or rollout')
    .description('wait for the verdict of a run or rollout that was started before');
  return onOneRun(addWaitOptions(command, 'run or rollout').addOption(followOption()), 'wait');
}

export function statusCommand(): Command {
  const command = new Command('status')
    .summary('show a run or rollout, and what it is waiting for')
    .description('show the current state of a run or rollout, and what it is waiting for')
    .option('--exit-status', 'exit with the code of the verdict, or 124 if there is no verdict yet')
    .addOption(
      new Option(
        '--watch',
        'show it until the run has ended, then exit like `status`; without a terminal, print a line per change',
      ).conflicts('json'),
    )
    .addOption(summary());
  return onOneRun(command, 'status');
}

export function cancelCommand(): Command {
  const command = new Command('cancel')
    .summary('cancel a run, or stop a rollout')
    .description(
      'cancel a run, or stop a rollout from starting more servers; operations in progress at the service continue',
    );
  return onOneRun(command, 'cancel');
}

function onOneRun(command: Command, action: 'wait' | 'status' | 'cancel'): Command {
  return command
    .argument('<workflowId>', 'id of the run or rollout, as printed when it started', parseId)
    .addOption(runId())
    .addOption(json())
    .addHelpText('after', examples(`belay ${action} backup-then-deploy:12:nightly`))
    .action(async (workflowId: string, options: OneRunOptions) =>
      (await import('./actions.ts'))[action](workflowId, options),
    );
}
