/** Defines `belay receipt`. */
import { Command, Option } from 'commander';
import { LIMITS } from '../../request/limits.ts';
import type { AnswersBy, ReceiptOptions } from './actions.ts';
import { durationWithin, parseId } from '../../cli/parse-values.ts';
import { examples, json, runId } from '../../cli/options.ts';

/** @param answersBy how the answers of people in a receipt are checked */
export function receiptCommand(answersBy: () => Promise<AnswersBy>): Command {
  return new Command('receipt')
    .summary('print what is known of a closed run, to keep it')
    .description(
      'print what is known of a closed run or rollout as one document whose entries are chained by hashes, to keep after Temporal deletes it',
    )
    .argument('[workflowId]', 'id of the run or rollout', parseId)
    .addOption(runId())
    .addOption(new Option('--verify <file>', 'check a receipt, without Temporal').conflicts(['since', 'runId']))
    .option('--signers <file>', 'with --verify: check signatures with this file of allowed signers of OpenSSH')
    .addOption(
      new Option(
        '--since <duration>',
        'write the receipts of all runs and rollouts that closed within this time; requires --to',
      )
        .argParser(durationWithin(LIMITS.durationMs))
        .conflicts('runId'),
    )
    .option('--to <folder>', 'with --since: where to write them; what is there already stays as it is')
    .addOption(json())
    .addHelpText(
      'after',
      examples(
        'belay receipt backup-then-deploy:12:release-7 > release-7.json',
        'belay receipt --verify release-7.json --signers allowed_signers',
        'belay receipt --since 24h --to receipts',
      ),
    )
    .action(async (workflowId: string | undefined, options: ReceiptOptions) =>
      (await import('./actions.ts')).receipt(workflowId, options, answersBy),
    );
}
