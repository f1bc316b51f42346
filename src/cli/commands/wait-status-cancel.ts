/** `belay wait`, `status` and `cancel`: a run or rollout that was started before. */
import { Command } from 'commander';
import { printDocument } from '../../process/json-document.ts';
import { ROLLOUT_PREFIX } from '../../contract/ids/workflow-ids.ts';
import type { Belay, Run } from '../../starter.ts';
import { inFlight, waitingSentence } from '../../contract/wording/explain-wait.ts';
import { EXIT, exitCodeOf } from '../output/exit-codes.ts';
import { liveLine } from '../waiting/run-live.ts';
import { addWaitOptions, examples, json, runId, summary } from '../options/add-run-options.ts';
import { printResult } from '../output/run-text.ts';
import { showRollout, viewOfRollout } from '../waiting/rollout-view.ts';
import { runMarkdown, writeSummary } from '../output/markdown-summary.ts';
import { parseId } from '../options/parse-values.ts';
import { viewOfRun, waitAndPrint, type WaitingOptions } from '../waiting/wait-for-verdict.ts';
import { withBelay } from '../waiting/connection.ts';

type LookOptions = WaitingOptions & { runId?: string; exitStatus?: boolean };

export function lookCommands(): Command[] {
  const wait = new Command('wait').description('wait for the verdict of a run or rollout that was started before');
  const status = new Command('status')
    .description('show what is known of a run or rollout now, and why it is waiting')
    .option('--exit-status', 'exit with the verdict; with 124 while there is none')
    .addOption(summary());
  const cancel = new Command('cancel').description(
    'ask a run to end, or a rollout to begin nothing more; what has begun at the service goes on there',
  );
  return [
    looking(addWaitOptions(wait), (belay, id, options) => {
      if (isRollout(id)) {
        const rollout = belay.rollouts.get(id, options.runId);
        return waitAndPrint(rollout, viewOfRollout(belay, rollout), options);
      }
      const run = belay.get(id, options.runId);
      return waitAndPrint(run, viewOfRun(run), options);
    }),
    looking(status, show),
    looking(cancel, async (belay, id, options) => {
      await (isRollout(id) ? belay.rollouts : belay).get(id, options.runId).cancel();
      return show(belay, id, options);
    }),
  ];
}

const isRollout = (workflowId: string): boolean => workflowId.startsWith(ROLLOUT_PREFIX);

function show(belay: Belay, id: string, options: LookOptions): Promise<number> {
  if (isRollout(id)) return showRollout(belay.rollouts.get(id, options.runId), options);
  return showStatus(belay.get(id, options.runId), options);
}

async function showStatus(run: Run, options: LookOptions): Promise<number> {
  const status = await run.status();
  const { result, waiting } = status;
  const why = waiting === null ? null : waitingSentence(waiting, inFlight(result));
  if (options.json === true) printDocument({ ...result, waiting, why });
  else printResult(result, false);
  const isInFlight = result.outcome === null && result.error === null;
  if (options.json !== true && isInFlight) process.stdout.write(`  now: ${liveLine(status, true)}\n`);
  await writeSummary(options.summary, () => runMarkdown(result));
  if (options.exitStatus !== true) return EXIT.completed;
  return isInFlight ? EXIT.stoppedWaiting : exitCodeOf(result);
}

function looking(
  command: Command,
  look: (belay: Belay, workflowId: string, options: LookOptions) => Promise<number>,
): Command {
  return command
    .argument('<workflowId>', 'as `belay run` and the Temporal UI show it', parseId)
    .addOption(runId())
    .addOption(json())
    .addHelpText('after', examples(`belay ${command.name()} backup-then-deploy:12:nightly`))
    .action(async (workflowId: string, options: LookOptions) => {
      process.exitCode = await withBelay((belay) => look(belay, workflowId, options));
    });
}
