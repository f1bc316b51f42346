/** `belay list`. */
import { Command } from 'commander';
import { OUTCOMES } from '../contract/names.ts';
import { LIMITS } from '../request/limits.ts';
import type { ListOptions } from './actions-list.ts';
import { addTargetOptions } from './run-options.ts';
import { choiceOf, durationWithin, parseId, parseLimit } from './parse-values.ts';
import { collectOf, RepeatableOption } from './repeated.ts';
import { examples, json, LIST_LIMITS, summary } from './options.ts';

const TARGETS = {
  site: 'only runs that deploy this site (repeatable: one of the sites and apps given)',
  app: 'only runs that deploy this app (repeatable: one of the sites and apps given)',
};

export function listCommand(): Command {
  const command = new Command('list').description('list runs, newest first; on a terminal, newest last');
  return addTargetOptions(command, TARGETS)
    .addOption(server())
    .addOption(outcome())
    .option('--since <duration>', 'only runs started within this time', durationWithin(LIMITS.durationMs))
    .option(
      '--limit <n>',
      `maximum number of runs (default: ${LIST_LIMITS.alone}; with --since: ${LIST_LIMITS.withSince})`,
      parseLimit,
    )
    .addOption(summary())
    .addOption(json())
    .addHelpText('after', examples('belay list --since 12h --outcome failed', 'belay list --site 34 --limit 5'))
    .action(async (options: ListOptions) => (await import('./actions-list.ts')).list(options));
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
