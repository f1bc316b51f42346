/** `belay init` and `belay config`: begin belay.yaml, and check it. */
import { Command } from 'commander';
import { examples, json } from './options.ts';

const load = () => import('./config-actions.ts');

export function configCommands(): Command[] {
  const init = new Command('init')
    .description('write a belay.yaml in which everything is explained, and commented out')
    .argument('[file]', 'file to write (default: BELAY_CONFIG, else belay.yaml)')
    .option('--force', 'replace the file if there is one')
    .addOption(json())
    .addHelpText('after', examples('belay init', 'belay init deploy/belay.yaml'))
    .action(async (file: string | undefined, options: { force?: boolean; json?: boolean }) =>
      (await load()).init(file, options),
    );
  const check = new Command('check')
    .description('check belay.yaml without Temporal, service or secrets; exit 2 and name file and line of a mistake')
    .argument('[file]', 'file to check (default: BELAY_CONFIG, else belay.yaml)')
    .addOption(json())
    .addHelpText('after', examples('belay config check', 'belay config check deploy/belay.yaml --json'))
    .action(async (file: string | undefined, options: { json?: boolean }) => (await load()).check(file, options));
  return [init, new Command('config').description('check the configuration file').addCommand(check)];
}
