/** `belay doctor`. */
import { Command } from 'commander';
import type { DoctorOptions } from '../actions/doctor.ts';
import { examples, json } from '../options/shared.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check the configuration, the service, Temporal and the workers; start nothing, and exit 2 if a check fails',
    )
    .option('--fix', 'fix problems automatically where possible')
    .option('--after-restore', "list what needs a decision after a restore of Temporal's database; changes nothing")
    .addOption(json())
    .addHelpText('after', examples('belay doctor', 'belay doctor --fix', 'belay doctor --after-restore'))
    .action(async (options: DoctorOptions) => (await import('../actions/doctor.ts')).doctor(options));
}
