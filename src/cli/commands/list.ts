/** `belay list`. */
import { Command, Option } from 'commander';
import { OUTCOMES } from '../../contract/names.ts';
import { LIMITS } from '../../request/limits.ts';
import type { ListOptions } from '../actions/list.ts';
import { durationWithin, parseId, parseLimit } from '../options/parse-values.ts';
import { examples, json, LIST_LIMITS, summary } from '../options/shared.ts';

export function listCommand(): Command {
  return new Command('list')
    .description('list runs, newest first')
    .option('--site <id>', 'only runs that deploy this site', parseId)
    .option('--app <id>', 'only runs that deploy this app', parseId)
    .option('--server <id>', 'only runs that back up this server', parseId)
    .addOption(new Option('--outcome <outcome>', 'only runs with this outcome').choices(OUTCOMES))
    .option('--since <duration>', 'only runs started within this time', durationWithin(LIMITS.durationMs))
    .option(
      '--limit <n>',
      `maximum number of runs (default: ${LIST_LIMITS.alone}; with --since: ${LIST_LIMITS.withSince})`,
      parseLimit,
    )
    .addOption(summary())
    .addOption(json())
    .addHelpText('after', examples('belay list --since 12h --outcome failed', 'belay list --site 34 --limit 5'))
    .action(async (options: ListOptions) => (await import('../actions/list.ts')).list(options));
}
