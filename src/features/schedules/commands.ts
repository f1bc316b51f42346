/** Defines `belay schedule`. */
import { Command } from 'commander';
import type { ApplyOptions, OneScheduleOptions, PauseOptions } from './actions.ts';
import { parseId } from '../../cli/parse-values.ts';
import { examples, json, reason, service } from '../../cli/options.ts';

const load = () => import('./actions.ts');

export function scheduleCommand(): Command {
  return new Command('schedule')
    .summary('create, update and manage schedules')
    .description('create, update and manage the schedules from belay.yaml')
    .addHelpText(
      'after',
      examples(
        'belay schedule apply --dry-run',
        'belay schedule list',
        'belay schedule pause belay:shop:nightly --reason "the data centre moves"',
      ),
    )
    .addCommand(applyCommand())
    .addCommand(listCommand())
    .addCommand(pauseOrResumeCommand('pause', 'pause a schedule until it is resumed'))
    .addCommand(pauseOrResumeCommand('resume', 'resume a paused schedule'))
    .addCommand(triggerCommand())
    .addCommand(deleteCommand());
}

function applyCommand(): Command {
  return new Command('apply')
    .description('show the differences from belay.yaml, then create and update the schedules to match it')
    .addOption(service())
    .option('--dry-run', 'only show the differences')
    .option('--prune', "also delete schedules of the file's fleets that are no longer in it")
    .addOption(json())
    .action(async (options: ApplyOptions) => (await load()).applySchedules(options));
}

function listCommand(): Command {
  return new Command('list')
    .description('list schedules with their next times, their last outcomes, and whether they are paused')
    .addOption(json())
    .action(async (options: OneScheduleOptions) => (await load()).printSchedules(options));
}

function pauseOrResumeCommand(action: 'pause' | 'resume', description: string): Command {
  return onOneSchedule(action, description)
    .addOption(reason('why; `belay schedule list` shows it'))
    .addOption(json())
    .action(async (scheduleId: string, options: PauseOptions) =>
      (await load()).pauseOrResume(action, scheduleId, options),
    );
}

function triggerCommand(): Command {
  return onOneSchedule('trigger', 'fire the schedule now, in addition to its planned times')
    .addOption(json())
    .action(async (scheduleId: string, options: OneScheduleOptions) =>
      (await load()).triggerSchedule(scheduleId, options),
    );
}

function deleteCommand(): Command {
  return onOneSchedule('delete', 'delete a schedule; runs that it started continue')
    .addOption(json())
    .action(async (scheduleId: string, options: OneScheduleOptions) =>
      (await load()).deleteSchedule(scheduleId, options),
    );
}

function onOneSchedule(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<scheduleId>', 'id of the schedule, from `belay schedule list`', parseId);
}
