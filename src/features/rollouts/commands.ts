/** Defines `belay rollout`. */
import { Command } from 'commander';
import type { DecisionOptions, RolloutFlags, RolloutListOptions, RolloutStatusOptions } from './actions.ts';
import { LIMITS } from '../../request/limits.ts';
import { runOption } from '../../cli/run-options.ts';
import { durationWithin, parseId, parseLimit } from '../../cli/parse-values.ts';
import {
  collectOf,
  RepeatableOption,
  addExceptionOptions,
  addWaitOptions,
  by,
  dryRunOption,
  examples,
  json,
  listLimitHelp,
  reason,
  runId,
  service,
  summary,
} from '../../cli/options.ts';

const load = () => import('./actions.ts');

const DETACH = 'start the rollout and exit; use `belay wait` for its verdict';

export function rolloutCommand(): Command {
  return new Command('rollout')
    .summary('back up and deploy a fleet, wave by wave')
    .description('back up and deploy a fleet from belay.yaml, wave by wave')
    .addHelpText(
      'after',
      examples(
        'belay rollout start steady --key release-7',
        'belay rollout status rollout:steady:release-7 --summary night.md',
        'belay rollout pause rollout:steady:release-7 --reason "the shop is slow"',
      ),
    )
    .addCommand(startCommand())
    .addCommand(statusCommand())
    .addCommand(
      decisionCommand('pause', 'start no more servers until the rollout is resumed; runs in progress continue'),
    )
    .addCommand(
      decisionCommand('resume', 'resume a paused rollout and accept its failures so far').addOption(
        new RepeatableOption(
          '--server <id>',
          'release only this server, which is held by an event (repeatable)',
          collectOf(parseId),
        ),
      ),
    )
    .addCommand(decisionCommand('abort', 'start no more servers, and end once the runs in progress have finished'))
    .addCommand(retryCommand())
    .addCommand(listCommand());
}

function startCommand(): Command {
  const command = new Command('start')
    .description('start a rollout and wait for its verdict')
    .argument('<name>', 'name under rollouts in belay.yaml', parseId)
    .option(
      '--key <key>',
      'idempotency key: join the rollout if it is in progress, return its result if it has finished',
      parseId,
    )
    .addOption(service())
    .addOption(runOption('commit'))
    .addOption(runOption('orNewer'))
    .addOption(runOption('approval', 'rollout'))
    .addOption(runOption('heartbeat', 'rollout'))
    .addOption(runOption('meta'))
    .option('--detach', DETACH);
  return addWaitOptions(addExceptionOptions(command, 'rollout').addOption(dryRunOption()), 'rollout')
    .addOption(json())
    .action(async (name: string, options: RolloutFlags) => (await load()).startRollout(name, options));
}

function retryCommand(): Command {
  const description = 'retry the unfinished servers of a closed rollout and wait for the verdict';
  const command = onOneRollout('retry', description).option('--detach', DETACH);
  return addWaitOptions(command, 'rollout')
    .addOption(json())
    .action(async (workflowId: string, options: RolloutFlags) => (await load()).retryRollout(workflowId, options));
}

function statusCommand(): Command {
  return onOneRollout('status', 'show the result of each server, the totals, and what the rollout is waiting for')
    .option('--exit-status', 'exit with the code of the verdict, or 124 if there is no verdict yet')
    .addOption(runId())
    .addOption(summary())
    .addOption(json())
    .action(async (workflowId: string, options: RolloutStatusOptions) =>
      (await load()).showRolloutStatus(workflowId, options),
    );
}

function decisionCommand(what: 'pause' | 'resume' | 'abort', description: string): Command {
  return onOneRollout(what, description)
    .addOption(reason('why; recorded with the rollout'))
    .addOption(by())
    .addOption(json())
    .action(async (workflowId: string, options: DecisionOptions) =>
      (await load()).decideRollout(what, workflowId, options),
    );
}

function onOneRollout(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<workflowId>', 'id of the rollout, from `belay rollout list`', parseId);
}

function listCommand(): Command {
  return new Command('list')
    .description('list rollouts, newest first')
    .option('--since <duration>', 'only rollouts started within this time', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', listLimitHelp('rollouts'), parseLimit)
    .addOption(json())
    .action(async (options: RolloutListOptions) => (await load()).listRollouts(options));
}
