/** `belay advice`. */
import { Command } from 'commander';
import type { AdviceOptions } from './actions.ts';
import { addTargetOptions } from '../../cli/run-options.ts';
import { parseId } from '../../cli/parse-values.ts';
import { collectOf, RepeatableOption, examples, json } from '../../cli/options.ts';

const ABOUT = { site: 'site to look back at (repeatable)', app: 'app to look back at (repeatable)' };

const server = () =>
  new RepeatableOption('--server <id>', 'server whose backups to look back at (repeatable)', collectOf(parseId));

export function adviceCommand(): Command {
  const command = new Command('advice')
    .summary('show how long operations take, and whether tries suffice')
    .description('show how long backups and deployments took in the last 30 days, and whether their tries are too few');
  return addTargetOptions(command.addOption(server()), ABOUT)
    .addOption(json())
    .addHelpText('after', examples('belay advice', 'belay advice --server 12 --site 34', 'belay advice --json'))
    .action(async (options: AdviceOptions) => (await import('./actions.ts')).advice(options));
}
