/** Defines `belay gates`. */
import { Command, Option } from 'commander';
import type { TryOptions } from './actions.ts';
import { parseId } from '../../cli/parse-values.ts';
import { examples, json } from '../../cli/options.ts';

export const gatesCommand = (): Command =>
  new Command('gates')
    .summary('try a gate of a rollout')
    .description('what is measured between the waves of a rollout')
    .addCommand(tryCommand());

const tryCommand = (): Command =>
  new Command('try')
    .description('measure a gate of belay.yaml once, from here: good, bad, or neither')
    .argument('<name>', 'name of the gate', parseId)
    .addOption(new Option('--rollout <name>', 'rollout whose wave to measure; default the first that has the gate'))
    .addOption(new Option('--wave <name>', 'wave to measure; default the first that has the gate'))
    .addOption(json())
    .addHelpText('after', examples('belay gates try errors', 'belay gates try errors --wave canary --json'))
    .action(async (name: string, options: TryOptions) => (await import('./actions.ts')).tryOnce(name, options));
