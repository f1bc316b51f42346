/** `belay wait`, `status` and `cancel`: for a run or rollout that was started before. */
import { Command } from 'commander';
import { printJson } from '../../process/json-document.ts';
import { ROLLOUT_PREFIX } from '../../contract/ids/workflow-ids.ts';
import type { Belay, Run } from '../../starter.ts';
import { inFlight, waitingSentence } from '../../contract/wording/explain-wait.ts';
import { EXIT, exitCodeOf } from '../output/exit-codes.ts';
import { liveLine } from '../waiting/run-live.ts';
import { addWaitOptions, examples, json, runId, summary } from '../options/shared.ts';
import { printResult } from '../output/run-text.ts';
import { showRollout, viewOfRollout } from '../waiting/rollout-view.ts';
import { runMarkdown, writeSummary } from '../output/markdown-summary.ts';
import { parseId } from '../options/parse-values.ts';
import { viewOfRun, waitAndPrint, type WaitingOptions } from '../waiting/wait-for-verdict.ts';
import { withBelay } from '../connection/open-belay.ts';
import { print } from '../../process/print.ts';

type OneRunOptions = WaitingOptions & { runId?: string; exitStatus?: boolean };

export function waitStatusCancelCommands(): Command[] {
  const wait = new Command('wait').description('wait for the verdict of a run or rollout that was started before');
  const status = new Command('status')
    .description('show the current state of a run or rollout, and what it is waiting for')
    .option('--exit-status', 'exit with the code of the verdict, or 124 if there is no verdict yet')
    .addOption(summary());
  const cancel = new Command('cancel').description(
    'cancel a run, or stop a rollout from starting more servers; operations in progress at the service continue',
  );
  return [
    onOneRun(addWaitOptions(wait, 'run or rollout'), (belay, id, options) => {
      if (isRollout(id)) {
        const rollout = belay.rollouts.get(id, options.runId);
        return waitAndPrint(rollout, viewOfRollout(belay, rollout), options);
      }
      const run = belay.get(id, options.runId);
      return waitAndPrint(run, viewOfRun(run), options);
    }),
    onOneRun(status, show),
    onOneRun(cancel, async (belay, id, options) => {
      await (isRollout(id) ? belay.rollouts : belay).get(id, options.runId).cancel();
      return show(belay, id, options);
    }),
  ];
}

const isRollout = (workflowId: string): boolean => workflowId.startsWith(ROLLOUT_PREFIX);

function show(belay: Belay, id: string, options: OneRunOptions): Promise<number> {
  if (isRollout(id)) return showRollout(belay.rollouts.get(id, options.runId), options);
  return showStatus(belay.get(id, options.runId), options);
}

async function showStatus(run: Run, options: OneRunOptions): Promise<number> {
  const status = await run.status();
  const { result, waiting } = status;
  const why = waiting === null ? null : waitingSentence(waiting, inFlight(result));
  if (options.json === true) printJson({ ...result, waiting, why });
  else printResult(result, false);
  const isInFlight = result.outcome === null && result.error === null;
  if (options.json !== true && isInFlight) print(`  now: ${liveLine(status, true)}`);
  await writeSummary(options.summary, () => runMarkdown(result));
  if (options.exitStatus !== true) return EXIT.completed;
  return isInFlight ? EXIT.stoppedWaiting : exitCodeOf(result);
}

function onOneRun(
  command: Command,
  act: (belay: Belay, workflowId: string, options: OneRunOptions) => Promise<number>,
): Command {
  return command
    .argument('<workflowId>', 'id of the run or rollout, as printed when it started', parseId)
    .addOption(runId())
    .addOption(json())
    .addHelpText('after', examples(`belay ${command.name()} backup-then-deploy:12:nightly`))
    .action(async (workflowId: string, options: OneRunOptions) => {
      process.exitCode = await withBelay((belay) => act(belay, workflowId, options));
    });
}
