/** What `belay wait`, `status` and `cancel` do, for a run or rollout that was started before. */
import { printJson } from '../../process/json-document.ts';
import { ROLLOUT_PREFIX } from '../../contract/ids/workflow-ids.ts';
import type { Belay, Run, RunStatus } from '../../starter.ts';
import { inFlight, waitingSentence } from '../../contract/wording/explain-wait.ts';
import { EXIT, exitCodeOf } from '../output/exit-codes.ts';
import { followLive, liveLine } from '../waiting/run-live.ts';
import { resultLines } from '../output/run-text.ts';
import { showRollout, viewOfRollout } from '../waiting/rollout-view.ts';
import { runMarkdown, writeSummary } from '../output/markdown-summary.ts';
import { viewOfRun, waitAndPrint, type WaitingOptions } from '../waiting/wait-for-verdict.ts';
import { watchUntilEnd } from '../waiting/watch-status.ts';
import { withBelay } from '../connection/open-belay.ts';
import { print } from '../../process/print.ts';

export type OneRunOptions = WaitingOptions & { runId?: string; exitStatus?: boolean; watch?: boolean };

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
  return exitWith(async (belay) => {
    const stopped = options.watch === true ? await watch(belay, id, options) : null;
    return stopped ?? show(belay, id, options);
  });
}

/** @returns an exit code if the user stopped watching */
function watch(belay: Belay, id: string, { runId }: OneRunOptions): Promise<number | null> {
  const { stdout } = process;
  if (isRollout(id)) {
    const rollout = belay.rollouts.get(id, runId);
    return watchUntilEnd(rollout, viewOfRollout(belay, rollout, stdout));
  }
  const run = belay.get(id, runId);
  const follow = () => followLive(run, { stream: stdout, lines: statusLines });
  return watchUntilEnd(run, { ...viewOfRun(run), follow });
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
  else print(statusLines(status));
  await writeSummary(options.summary, () => runMarkdown(result));
  if (options.exitStatus !== true) return EXIT.completed;
  return isInFlight(status) ? EXIT.stoppedWaiting : exitCodeOf(result);
}

const isInFlight = ({ result }: RunStatus): boolean => result.outcome === null && result.error === null;

function statusLines(status: RunStatus): string[] {
  const now = isInFlight(status) ? [`  now: ${liveLine(status, true)}`] : [];
  return [...resultLines(status.result), ...now];
}
