/** What `belay wait`, `status` and `cancel` do, for a run or rollout that was started before. */
import { printJson } from '../process/json-document.ts';
import { ROLLOUT_PREFIX } from '../contract/ids.ts';
import { BelayError } from '../contract/errors.ts';
import type { Belay, Run, RunResult, RunStatus } from '../starter.ts';
import { beginsText } from '../features/freezes/text.ts';
import { inFlight, waitingSentence } from '../contract/explain-wait.ts';
import { EXIT, exitCodeOfResult } from '../contract/exit-codes.ts';
import { adviceOnRun, adviceOnStatus, etaOf, followEta } from '../features/advice/actions-eta.ts';
import { freezeAhead } from '../features/freezes/actions-ahead.ts';
import { followLive, liveLine } from './run-live.ts';
import { adviceNotes, etaDocument, type Eta } from '../features/advice/advice-text.ts';
import { CANCELLATION_REQUESTED, resultLines } from './run-text.ts';
import { showRollout, viewOfRollout } from '../features/rollouts/actions-show.ts';
import { runMarkdown, writeSummary } from './markdown-summary.ts';
import { viewOfRun, waitAndPrint, type WaitingOptions } from './wait-for-verdict.ts';
import { watchUntilEnd } from './watch-status.ts';
import { withBelay } from './open-belay.ts';
import { print, printNote } from '../process/print.ts';

export type OneRunOptions = WaitingOptions & {
  runId?: string;
  exitStatus?: boolean;
  watch?: boolean;
  /** Not an option of the command line. */
  isCancelled?: true;
};

export function wait(id: string, options: OneRunOptions): Promise<void> {
  return exitWith((belay) => {
    if (isRollout(id)) {
      if (options.follow === true) throw new BelayError('Usage', `--follow is for runs, and ${id} is a rollout`);
      const rollout = belay.rollouts.get(id, options.runId);
      return waitAndPrint(rollout, viewOfRollout(belay, rollout), options);
    }
    const run = belay.get(id, options.runId);
    return waitAndPrint(run, viewOfRun(belay, run, options.follow), options);
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
  const follow = () => followLive(run, { stream: stdout, lines: statusLines, eta: followEta(belay, run) });
  return watchUntilEnd(run, { ...viewOfRun(belay, run), follow });
}

export function cancel(id: string, options: OneRunOptions): Promise<void> {
  return exitWith(async (belay) => {
    const wasOpen = await (isRollout(id) ? belay.rollouts : belay).get(id, options.runId).cancel();
    if (!wasOpen) printNote(`${id} had ended: there was nothing to cancel`);
    return show(belay, id, { ...options, isCancelled: true });
  });
}

async function exitWith(act: (belay: Belay) => Promise<number>): Promise<void> {
  process.exitCode = await withBelay(act);
}

const isRollout = (workflowId: string): boolean => workflowId.startsWith(ROLLOUT_PREFIX);

function show(belay: Belay, id: string, options: OneRunOptions): Promise<number> {
  if (isRollout(id)) return showRollout(belay.rollouts.get(id, options.runId), options);
  return showStatus(belay, belay.get(id, options.runId), options);
}

async function showStatus(belay: Belay, run: Run, options: OneRunOptions): Promise<number> {
  const status = await run.status();
  const { result, waiting } = status;
  const why = waiting === null ? null : waitingSentence(waiting, inFlight(result));
  const past = await adviceOnStatus(belay, status);
  const eta = etaOf(status, past);
  if (options.json === true) printJson({ ...result, waiting, why, eta: etaDocument(eta) });
  else {
    const cancelled = options.isCancelled === true && isInFlight(status) ? [CANCELLATION_REQUESTED] : [];
    print([...statusLines(status, eta), ...cancelled, ...(await freezeLines(result, eta)), ...adviceNotes(past)]);
  }
  await writeSummary(options.summary, async () => runMarkdown(result, await adviceOnRun(belay, result)));
  if (options.exitStatus !== true) return EXIT.completed;
  return isInFlight(status) ? EXIT.stoppedWaiting : exitCodeOfResult(result);
}

async function freezeLines(result: RunResult, eta: Eta | null): Promise<string[]> {
  const nowMs = Date.now();
  const freeze = await freezeAhead(result, eta, nowMs);
  return freeze === null ? [] : [`  ${beginsText(freeze.by.name, freeze.atMs - nowMs)}`];
}

const isInFlight = ({ result }: RunStatus): boolean => result.outcome === null && result.error === null;

function statusLines(status: RunStatus, eta: Eta | null): string[] {
  const now = isInFlight(status) ? [`  now: ${liveLine(status, true, eta)}`] : [];
  return [...resultLines(status.result), ...now];
}
