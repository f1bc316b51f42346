/** Defines `belay check`. */
import { Command, Option } from 'commander';
import type { CheckOptions } from './actions.ts';
import { runOption } from '../../cli/run-options.ts';
import { parseId } from '../../cli/parse-values.ts';
import { examples, json } from '../../cli/options.ts';

function commitOption(): Option {
  const option = runOption('commit');
  option.description = 'commit that the site has to show, 7 to 64 hex digits; its check has to read one';
  return option;
}

export const checkCommand = (): Command =>
  new Command('check')
    .summary('try the check of a site')
    .description('read a site once as its check does after a deployment, and show which expectation it does not meet')
    .addOption(new Option('--site <id>', 'site whose check to try').argParser(parseId).makeOptionMandatory())
    .addOption(commitOption())
    .addOption(json())
    .addHelpText('after', examples('belay check --site 34', 'belay check --site 34 --commit 3f2c1ab'))
    .action(async (options: CheckOptions) => (await import('./actions.ts')).trySiteCheck(options));
