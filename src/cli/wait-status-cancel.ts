/** `belay wait`, `status` and `cancel`: for a run or rollout that was started before. */
import { Command, Option } from 'commander';
import type { OneRunOptions } from './actions-wait-status-cancel.ts';
import { parseId } from './parse-values.ts';
import { addWaitOptions, examples, follow, json, runId, summary } from './options.ts';

export function waitStatusCancelCommands(): Command[] {
  const wait = new Command('wait').description('wait for the verdict of a run or rollout that was started before');
  const status = new Command('status')
    .description('show the current state of a run or rollout, and what it is waiting for')
    .option('--exit-status', 'exit with the code of the verdict, or 124 if there is no verdict yet')
    .addOption(
      new Option(
        '--watch',
        'show it until the run has ended, then exit like `status`; without a terminal, print a line per change',
      ).conflicts('json'),
    )
    .addOption(summary());
  const cancel = new Command('cancel').description(
    'cancel a run, or stop a rollout from starting more servers; operations in progress at the service continue',
  );
  return [
    onOneRun(addWaitOptions(wait, 'run or rollout').addOption(follow()), 'wait'),
    onOneRun(status, 'status'),
    onOneRun(cancel, 'cancel'),
  ];
}

function onOneRun(command: Command, action: 'wait' | 'status' | 'cancel'): Command {
  return command
    .argument('<workflowId>', 'id of the run or rollout, as printed when it started', parseId)
    .addOption(runId())
    .addOption(json())
    .addHelpText('after', examples(`belay ${action} backup-then-deploy:12:nightly`))
    .action(async (workflowId: string, options: OneRunOptions) =>
      (await import('./actions-wait-status-cancel.ts'))[action](workflowId, options),
    );
}
