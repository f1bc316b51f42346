/** `belay demo`. */
import { Command } from 'commander';
import type { DemoOptions } from './actions-demo.ts';
import { examples, json } from './options.ts';

export function demoCommand(): Command {
  return new Command('demo')
    .description('run one backup and one deployment against a temporary Temporal server, worker and sandbox')
    .option('--keep', 'keep everything running afterwards, to open the run in the Temporal UI')
    .addOption(json())
    .addHelpText('after', examples('belay demo', 'belay demo --keep'))
    .action(async (options: DemoOptions) => (await import('./actions-demo.ts')).demo(options));
}
