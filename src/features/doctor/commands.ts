/** Defines `belay doctor`. */
import { Command, Option } from 'commander';
import type { DoctorOptions } from './actions.ts';
import { examples, json } from '../../cli/options.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .summary('check what this machine needs, with remedies')
    .description(
      'check what this machine needs to start runs, or to be a worker; start nothing, and exit 2 if a check fails',
    )
    .addOption(
      new Option(
        '--for <role>',
        'what the machine is for; a worker needs the service and its token (default: worker if BELAY_API_* is set, else starter)',
      ).choices(['starter', 'worker']),
    )
    .option('--fix', 'fix problems automatically where possible')
    .option('--after-restore', "list what needs a decision after a restore of Temporal's database; changes nothing")
    .addOption(json())
    .addHelpText(
      'after',
      examples('belay doctor', 'belay doctor --for worker', 'belay doctor --fix', 'belay doctor --after-restore'),
    )
    .action(async (options: DoctorOptions) => (await import('./actions.ts')).doctor(options));
}
