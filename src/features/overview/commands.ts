/** Defines `belay top`. */
import { Command, Option } from 'commander';
import type { TopOptions } from './actions.ts';
import { addTargetOptions } from '../../cli/run-options.ts';
import { DAY_MS, durationText, HOUR_MS } from '../../contract/duration.ts';
import { durationWithin, parseLimit } from '../../cli/parse-values.ts';
import { examples, json } from '../../cli/options.ts';

/** How many runs and rollouts it shows, and how often it reads what is not a fleet. */
export const TOP_LIMIT = 50;
export const TOP_INTERVAL_MS = 5_000;

const READ = { site: 'site to read from the service (repeatable)', app: 'app to read from the service (repeatable)' };

export function topCommand(): Command {
  const command = new Command('top')
    .summary('show what is in flight, or what the service reports')
    .description(
      'show the runs and rollouts in flight, or with --site, --app and --fleet what the service reports, until you press q; ' +
        'without a terminal, show it once',
    );
  return addTargetOptions(command, READ)
    .addOption(
      new Option(
        '--interval <duration>',
        `with --site, --app or --fleet: how often to read (default: ${durationText(TOP_INTERVAL_MS)}, longer for a large fleet)`,
      ).argParser(durationWithin([1_000, HOUR_MS])),
    )
    .addOption(
      new Option('--limit <n>', `maximum number of runs and rollouts (default: ${TOP_LIMIT})`)
        .argParser(parseLimit)
        .conflicts('targets'),
    )
    .addOption(
      new Option('--fleet <name>', 'read every site and app of this fleet in belay.yaml from the service').conflicts([
        'targets',
        'limit',
      ]),
    )
    .addOption(
      new Option('--recent <duration>', 'also show what began in this time and has ended, with its outcome, like 12h')
        .argParser(durationWithin([1_000, 30 * DAY_MS]))
        .conflicts(['targets', 'fleet', 'interval']),
    )
    .addOption(json())
    .addHelpText(
      'after',
      examples('belay top', 'belay top --recent 12h', 'belay top --fleet shop', 'belay top --site 34 --site 35'),
    )
    .action(async (options: TopOptions) => (await import('./actions.ts')).top(options));
}
