/** Defines `belay approve`, `reject` and `approvals`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { PLAN_DIGITS } from './text.ts';
import type { DecideOptions } from './actions.ts';
import { parseFilled, parseId } from '../../cli/parse-values.ts';
import { examples, json, reason } from '../../cli/options.ts';

const load = () => import('./actions.ts');

export const approvalCommands = (): Command[] => [approveCommand(), rejectCommand(), approvalsCommand()];

function approveCommand(): Command {
  const command = new Command('approve')
    .summary('approve what a run or rollout asks')
    .description(
      'approve what a run or rollout asks: shows it, then asks on a terminal, and signs with SSH if that is the proof',
    );
  return addDecision(command, 'approve').option('--reason <text>', 'why; recorded with the approval', parseFilled);
}

function rejectCommand(): Command {
  const command = new Command('reject')
    .summary('reject what a run or rollout asks')
    .description('reject what a run or rollout asks, which ends it');
  return addDecision(command, 'reject').addOption(reason('why; recorded, and shown to everyone'));
}

function addDecision(command: Command, decision: 'approve' | 'reject'): Command {
  const why = decision === 'reject' ? ' --reason "not before the sale ends"' : '';
  return command
    .argument('<workflowId>', 'id of the run or rollout, as in `belay approvals`', parseId)
    .addOption(
      new Option(
        '--plan <hash>',
        `hash of the plan that you have read, at least its first ${PLAN_DIGITS} digits; required without a terminal`,
      ).argParser(parsePlan),
    )
    .option('--by <name>', 'who decides, as in the file of signers (default: your user name and host)', parseFilled)
    .addOption(
      new Option('--github', 'prove it by this job of GitHub Actions, if the approval asks for one').conflicts([
        'by',
        'key',
      ]),
    )
    .option('--key <file>', 'SSH key to sign with; a public key asks the agent (default: the first in ~/.ssh)')
    .addOption(json())
    .addHelpText('after', examples(`belay ${decision} backup-then-deploy:12:release-7 --by ana@example.com${why}`))
    .action(async (workflowId: string, options: DecideOptions) =>
      (await load()).decideApproval(decision, workflowId, options),
    );
}

function approvalsCommand(): Command {
  return new Command('approvals')
    .summary('list what waits for an approval')
    .description('list the runs and rollouts that wait for an approval, and how to give it')
    .addOption(json())
    .addHelpText('after', examples('belay approvals', 'belay approvals --json'))
    .action(async (options: { json?: boolean }) => (await load()).printApprovals(options));
}

function parsePlan(text: string): string {
  if (new RegExp(`^[0-9a-f]{${PLAN_DIGITS},64}$`, 'i').test(text)) return text.toLowerCase();
  throw new InvalidArgumentError(`"${text}" is not the hash of a plan. Use its first ${PLAN_DIGITS} to 64 hex digits.`);
}
