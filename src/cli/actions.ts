/** What the commands about runs do. `belay run`, `backup`, `deploy` and `watch` start one and wait for its verdict. */
import { ciFacts } from '../config/environment/ci-facts.ts';
import { readConfiguration, refuseInventoryConflict } from '../config/load.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf, type Target } from '../contract/target.ts';
import type { RunType, Outcome } from '../contract/names.ts';
import { definedFields } from '../contract/plain-object.ts';
import { BelayError, EXIT, exitCodeOfResult } from '../contract/errors.ts';
import { withFacts } from '../request/input/start-request.ts';
import { nameOptions, toRunInput, type CommanderValues } from './run-options.ts';
import { exceptionsOf, metaNotes, type ExceptionOptions, MORE_TO_LIST, mostListed } from './options.ts';
import { printNote, print } from '../process/print.ts';
import { endNow, onSignal } from '../process/signals.ts';
import { CANCELLATION_REQUESTED, resultLines, resultOfError, runTable, noteUnreadable } from './run-text.ts';
import {
  captureSignals,
  howToContinue,
  viewOfRun,
  startAndPrint,
  waitAndPrint,
  type WaitingOptions,
  shellArguments,
  type View,
  type Waited,
} from './wait-for-verdict.ts';
import { reportEndpoints, withBelay } from './open-belay.ts';
import { printDocument, printFailure, printJson } from '../process/json-document.ts';
import { countRuns, listMarkdown, writeSummary, runMarkdown } from './markdown-summary.ts';
import { sinceText } from './parse-values.ts';
import { counted, countsText } from '../contract/results.ts';
import { columnsOf } from '../process/live-lines.ts';
import { ROLLOUT_PREFIX } from '../contract/ids.ts';
import type { Belay, Run, RunResult, RunStatus } from '../starter.ts';
import { beginsText } from '../features/freezes/text.ts';
import { nameOfPartInFlight, waitingSentence } from '../contract/explain-wait.ts';
import { adviceOnRun, adviceOnStatus, etaOf, followEta } from '../features/advice/actions-eta.ts';
import { freezeAhead } from '../features/advice/actions-ahead.ts';
import { followLive, liveLine } from './follow.ts';
import { adviceNotes, etaDocument, type Eta } from '../features/advice/actions.ts';
import { showRollout, viewOfRollout } from '../features/rollouts/actions-show.ts';

export type RunFlags = CommanderValues &
  WaitingOptions &
  ExceptionOptions & { key?: string; again?: boolean; detach?: boolean; service?: string; dryRun?: boolean };

export async function startAndWait(type: RunType, options: RunFlags): Promise<void> {
  if (options.again === true && options.key === undefined) {
    throw new BelayError('Usage', '--again requires --key: name the key of the run to repeat');
  }
  const asked = toRunInput(options);
  const input = { ...asked, ...definedFields({ meta: withFacts(asked.meta, ciFacts()) }), ...exceptionsOf(options) };
  if (type !== 'backupOnly' && targetsOf(input).length === 0) {
    const backup = type === 'backupThenDeploy' ? '; `belay backup` makes only a backup' : '';
    const nothing = type === 'watchDeployment' ? 'no site or app to follow is named' : 'nothing to deploy is named';
    throw new BelayError('Usage', `${nothing}: give --site ID or --app ID${backup}`);
  }
  await refuseInventoryConflict(await readConfiguration(), input);
  printNote(metaNotes(asked.meta));
  await reportEndpoints(options.service);
  const act = options.dryRun === true ? exitCodeOfDryRun : exitCodeOfRun;
  process.exitCode = await act(type, input, options).catch(nameOptions);
}

async function exitCodeOfDryRun(type: RunType, input: RunInput, options: RunFlags): Promise<number> {
  const { dryRun, plannedRun } = await import('./dry-run.ts');
  return dryRun(plannedRun(type, input, options.key), options);
}

async function exitCodeOfRun(type: RunType, input: RunInput, options: RunFlags): Promise<number> {
  const { key, again, service } = options;
  return withBelay(
    (belay) =>
      startAndPrint(
        {
          start: () => belay.start(input, { type, ...definedFields({ key, again }) }),
          viewOf: (run) => viewOfRun(belay, run, options.follow),
          lines: resultLines,
        },
        options,
      ),
    definedFields({ service }),
  );
}

/* What `belay list` does: it lists running and closed runs. */

export interface RunListOptions {
  targets?: Target[];
  server?: string[];
  outcome?: Outcome[];
  since?: number;
  limit?: number;
  json?: boolean;
  summary?: string;
}

export async function list(options: RunListOptions): Promise<void> {
  const { targets, server, outcome, since, json: asJson, summary: file } = options;
  const most = mostListed(options);
  const filter = definedFields({ targets, serverId: server, outcome, since: sinceText(since) });
  const runs = await withBelay((belay) => belay.list({ ...filter, limit: most }));
  noteUnreadable(runs);
  const counts = countRuns(runs);
  await writeSummary(file, () => listMarkdown(runs));
  if (asJson === true) return printDocument({ runs, counts });
  if (runs.length === 0) return print('no runs');
  const more = runs.length === most ? `; ${MORE_TO_LIST}` : '';
  // Whoever looks at a terminal looks at its end.
  const inOrder = process.stdout.isTTY ? runs.toReversed() : runs;
  print([
    ...runTable(inOrder, columnsOf(process.stdout)),
    `${counted(runs.length, 'run')}: ${countsText(counts)}${more}`,
  ]);
}

/* What `belay wait`, `status` and `cancel` do, for a run or rollout that was started before. */

export type OneRunOptions = WaitingOptions & {
  runId?: string;
  exitStatus?: boolean;
  watch?: boolean;
};

export function wait(id: string, options: OneRunOptions): Promise<void> {
  const named = { workflowId: id, runId: options.runId ?? null, attached: true };
  onSignal((signal) => endNow(signal, id, [howToContinue(named, options)]));
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
    const stopped = options.watch === true ? await followStatus(belay, id, options) : null;
    return stopped ?? show(belay, id, options);
  });
}

/** @returns an exit code if the user stopped watching */
function followStatus(belay: Belay, id: string, { runId }: OneRunOptions): Promise<number | null> {
  const { stdout } = process;
  if (isRollout(id)) {
    const rollout = belay.rollouts.get(id, runId);
    return watchUntilEnd(rollout, viewOfRollout(belay, rollout, stdout));
  }
  const run = belay.get(id, runId);
  const showProgress = () => followLive(run, { stream: stdout, lines: statusLines, eta: followEta(belay, run) });
  return watchUntilEnd(run, { ...viewOfRun(belay, run), showProgress });
}

export function cancel(id: string, options: OneRunOptions): Promise<void> {
  return exitWith(async (belay) => {
    const wasOpen = await (isRollout(id) ? belay.rollouts : belay).get(id, options.runId).cancel();
    if (!wasOpen) printNote(`${id} had ended: there was nothing to cancel`);
    return show(belay, id, options, true).catch((error: unknown) => {
      if (!(error instanceof BelayError) || error.type !== 'Usage') throw error;
      // The request to cancel was sent. Only the result cannot be decoded here.
      printFailure({ ...resultOfError(error), workflowId: id }, options.json === true);
      if (wasOpen && options.json !== true) print(CANCELLATION_REQUESTED.trim());
      return EXIT.completed;
    });
  });
}

async function exitWith(act: (belay: Belay) => Promise<number>): Promise<void> {
  process.exitCode = await withBelay(act);
}

const isRollout = (workflowId: string): boolean => workflowId.startsWith(ROLLOUT_PREFIX);

function show(belay: Belay, id: string, options: OneRunOptions, isCancelRequested = false): Promise<number> {
  if (isRollout(id)) return showRollout(belay.rollouts.get(id, options.runId), options, isCancelRequested);
  return showStatus(belay, belay.get(id, options.runId), options, isCancelRequested);
}

async function showStatus(belay: Belay, run: Run, options: OneRunOptions, isCancelRequested: boolean): Promise<number> {
  const status = await run.status();
  const { result, waiting } = status;
  const why = waiting === null ? null : waitingSentence(waiting, nameOfPartInFlight(result));
  const past = await adviceOnStatus(belay, status);
  const eta = etaOf(status, past);
  if (options.json === true) printJson({ ...result, waiting, why, eta: etaDocument(eta) });
  else {
    const cancelled = isCancelRequested && isInFlight(status) ? [CANCELLATION_REQUESTED] : [];
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

/* Shows the status of a run or rollout until it has ended, for `belay status --watch`. */

/** @returns null once it has ended or cannot be followed, else the exit code of the user who stopped watching */
async function watchUntilEnd<R>(
  waited: Waited<R>,
  { what, showProgress, ofError }: Pick<View<R>, 'what' | 'showProgress' | 'ofError'>,
): Promise<number | null> {
  const stopping = captureSignals({});
  const live = showProgress();
  try {
    const result = await waited.result({ signal: stopping.signal }).catch(ofError);
    live.stop(result);
    if (!stopping.signal.aborted) return null;
    printNote(`The ${what} continues. To watch it again: \`belay status ${shellArguments(waited)} --watch\``);
    return stopping.exitCode();
  } finally {
    stopping.end();
  }
}
