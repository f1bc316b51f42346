/** `belay top`. */
import { Command, Option } from 'commander';
import type { TopOptions } from '../actions/top.ts';
import { addTargetOptions } from '../options/add-run-options.ts';
import { parseLimit } from '../options/parse-values.ts';
import { examples, interval, json, TOP_LIMIT } from '../options/shared.ts';

const READ = { site: 'site to read from the service (repeatable)', app: 'app to read from the service (repeatable)' };

export function topCommand(): Command {
  const command = new Command('top').description(
    'show the runs and rollouts in flight, or with --site and --app what the service reports, until you press q; ' +
      'without a terminal, show it once',
  );
  return addTargetOptions(command, READ)
    .addOption(interval())
    .addOption(
      new Option('--limit <n>', `maximum number of runs and rollouts (default: ${TOP_LIMIT})`)
        .argParser(parseLimit)
        .conflicts('targets'),
    )
    .addOption(json())
    .addHelpText('after', examples('belay top', 'belay top --site 34 --site 35', 'belay top --json'))
    .action(async (options: TopOptions) => (await import('../actions/top.ts')).top(options));
}
