/** What `belay wait`, `status` and `cancel` do, for a run or rollout that was started before. */
import { printJson } from '../../process/json-document.ts';
import { ROLLOUT_PREFIX } from '../../contract/ids/workflow-ids.ts';
import type { Belay, Run } from '../../starter.ts';
import { inFlight, waitingSentence } from '../../contract/wording/explain-wait.ts';
import { EXIT, exitCodeOf } from '../output/exit-codes.ts';
import { liveLine } from '../waiting/run-live.ts';
import { printResult } from '../output/run-text.ts';
import { showRollout, viewOfRollout } from '../waiting/rollout-view.ts';
import { runMarkdown, writeSummary } from '../output/markdown-summary.ts';
import { viewOfRun, waitAndPrint, type WaitingOptions } from '../waiting/wait-for-verdict.ts';
import { withBelay } from '../connection/open-belay.ts';
import { print } from '../../process/print.ts';

export type OneRunOptions = WaitingOptions & { runId?: string; exitStatus?: boolean };

export function wait(id: string, options: OneRunOptions): Promise<void> {
  return exitWith((belay) => {
    if (isRollout(id)) {
      const rollout = belay.rollouts.get(id, options.runId);
      return waitAndPrint(rollout, viewOfRollout(belay, rollout), options);
    }
    const run = belay.get(id, options.runId);
    return waitAndPrint(run, viewOfRun(run), options);
  });
}

export function status(id: string, options: OneRunOptions): Promise<void> {
  return exitWith((belay) => show(belay, id, options));
}

export function cancel(id: string, options: OneRunOptions): Promise<void> {
  return exitWith(async (belay) => {
    await (isRollout(id) ? belay.rollouts : belay).get(id, options.runId).cancel();
    return show(belay, id, options);
  });
}

async function exitWith(act: (belay: Belay) => Promise<number>): Promise<void> {
  process.exitCode = await withBelay(act);
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
