/** Waits for a verdict and exits with it. */
import type { RunResult } from '../contract/run.ts';
import { SIGNAL_EXIT_CODES, onSignal } from '../process/signals.ts';
import type { Belay, Run } from '../starter.ts';
import { BelayError, EXIT, exitCodeOfResult } from '../contract/errors.ts';
import { adviceOnRun, followEta } from '../features/advice/actions-eta.ts';
import { followLive } from './follow.ts';
import { resultLines, resultOfError, retryCommand } from './run-text.ts';
import { runMarkdown, writeSummary } from './markdown-summary.ts';
import { shellWord } from '../contract/safe-text.ts';
import { printJson } from '../process/json-document.ts';
import { print, printNote } from '../process/print.ts';

export interface WaitingOptions {
  json?: boolean;
  /** Milliseconds. */
  waitTimeout?: number;
  cancelOnInterrupt?: boolean;
  /** The file for the Markdown summary. */
  summary?: string;
  /** Wait for the run that replaces it, too. */
  follow?: boolean;
}

/** A run or a rollout. */
export interface Waited<R> {
  readonly workflowId: string;
  readonly runId: string | null;
  readonly attached: boolean;
  readonly links: Run['links'];
  result(options: { signal: AbortSignal }): Promise<R>;
  cancel(): Promise<boolean>;
}

export interface View<R> {
  what: string;
  showProgress(): { stop(result: R): void };
  /** The result for people. */
  lines(result: R): string[];
  ofError(error: unknown): R;
  markdown(result: R): string | Promise<string>;
  /** What to wait for instead, once it has ended. */
  successor?(result: R): Shown<R> | null;
}

interface Shown<R> {
  waited: Waited<R>;
  view: View<R>;
}

/** @param follows whether to wait for the run that replaces it, too */
export const viewOfRun = (belay: Belay, run: Run, follows = false): View<RunResult> => ({
  what: 'run',
  // The estimate costs a search in Temporal. Hundreds of CI jobs would search for a text that no user looks at.
  showProgress: () => followLive(run, process.stderr.isTTY ? { eta: followEta(belay, run) } : {}),
  lines: resultLines,
  ofError: resultOfError,
  markdown: async (result) => runMarkdown(result, await adviceOnRun(belay, result)),
  successor({ supersededBy = null }) {
    if (!follows || supersededBy === null) return null;
    const newer = belay.get(supersededBy.workflowId, supersededBy.runId);
    return { waited: newer, view: viewOfRun(belay, newer, follows) };
  },
});

/** Prints the id on stderr, so that a job or a user can continue if this process ends before the verdict. */
function noteStarted<R>({ workflowId, attached, links }: Waited<R>, what: string): void {
  const link = links.ui === null ? [] : [`in the Temporal UI: ${links.ui}`];
  printNote([`${what}: ${workflowId}${attached ? ', which was started before' : ''}`, ...link]);
}

/**
 * Says that a key had been used, since the result of an earlier step or job looks like one of this command. Null if the
 * command started something.
 */
export function joinedNote(
  { attached, endedAt, outcome, workflowId }: Omit<AnyResult, 'error'>,
  what: string,
  startedMs: number,
): string | null {
  if (!attached) return null;
  const hadEnded = endedAt !== null && Date.parse(endedAt) < startedMs;
  if (!hadEnded) {
    const verdict = endedAt === null ? 'it is still in flight' : 'this is its verdict';
    return `This key's ${what} had been started before: nothing was started; ${verdict}.`;
  }
  const ended = `This key's ${what} ended at ${endedAt}: nothing was started`;
  if (outcome === 'completed') return `${ended}; another key starts a new ${what}.`;
  if (what === 'run') return `${ended}; --again or another key starts a new run.`;
  return `${ended}; ${retryCommand(workflowId ?? '')} starts what is not completed again, and another key a new ${what}.`;
}

type AnyResult = Pick<RunResult, 'workflowId' | 'outcome' | 'error' | 'attached' | 'endedAt'>;

interface Starts<R, S> {
  start: () => Promise<S>;
  viewOf: (started: S) => View<R>;
  /** For people: what is known at the start. */
  lines: (result: R) => string[];
}

/** Starts it, and waits for its verdict unless it is detached. @returns the exit code */
export async function startAndPrint<R extends AnyResult, S extends Waited<R> & { status(): Promise<{ result: R }> }>(
  { start, viewOf, lines }: Starts<R, S>,
  options: WaitingOptions & { detach?: boolean },
): Promise<number> {
  const stopping = captureSignals(options);
  const startedMs = Date.now();
  try {
    const started = await start();
    const view = viewOf(started);
    if (options.detach !== true) return await waitAndPrint(started, view, options, { stopping, startedMs });
    const result = { ...(await started.status()).result, attached: started.attached };
    if (options.json === true) printJson(result);
    else print(lines(result));
    printNote(joinedNote(result, view.what, startedMs) ?? []);
    return EXIT.completed;
  } finally {
    stopping.end();
  }
}

interface Waiting {
  stopping?: Stopping;
  /** When this command was to start it; null: it only waits. */
  startedMs?: number | null;
}

/** Waits and prints the result. @returns the exit code */
export async function waitAndPrint<R extends AnyResult>(
  waited: Waited<R>,
  view: View<R>,
  options: WaitingOptions,
  { stopping = captureSignals(options), startedMs = null }: Waiting = {},
): Promise<number> {
  try {
    if (startedMs !== null) noteStarted(waited, view.what);
    const { waited: last, view: shown, result, error } = await awaitLast({ waited, view }, stopping);
    if (options.json === true) printJson(result);
    else if (isUnreached(error)) printNote(`belay: ${error.message}`);
    else print(shown.lines(result));
    if (startedMs !== null) printNote(joinedNote(result, shown.what, startedMs) ?? []);
    await writeSummary(options.summary, () => shown.markdown(result));
    if (!(error instanceof BelayError) || error.type !== 'StoppedWaiting') return exitCodeOfResult(result);
    const name = shellArguments(last);
    printNote([howToContinue(last, options), `To cancel the ${view.what}: \`belay cancel ${name}\``]);
    return stopping.exitCode();
  } finally {
    stopping.end();
  }
}

/** Nothing is known of the run, so there is no result to show: its id may be wrong. */
const isUnreached = (error: unknown): error is BelayError =>
  error instanceof BelayError && error.result === null && error.rollout === null;

/** Waits for it, or for the last of those that replace it one after another. */
async function awaitLast<R>(first: Shown<R>, stopping: Stopping): Promise<Shown<R> & { result: R; error: unknown }> {
  for (let { waited, view } = first; ;) {
    stopping.apply(waited === first.waited ? waited : NOT_OURS, view.what);
    const live = view.showProgress();
    const { result, error } = await waited.result({ signal: stopping.signal }).then(
      (it) => ({ result: it, error: null }),
      (it: unknown) => ({ result: view.ofError(it), error: it }),
    );
    live.stop(result);
    const next = view.successor?.(result) ?? null;
    if (next === null) return { waited, view, result, error };
    printNote([`${waited.workflowId} was replaced: waiting for ${next.waited.workflowId}`]);
    ({ waited, view } = next);
  }
}

/** The id of a run or rollout, as arguments for a shell. */
export function shellArguments({
  workflowId,
  runId,
  attached,
}: Pick<Run, 'workflowId' | 'runId' | 'attached'>): string {
  return `${shellWord(workflowId)}${attached && runId !== null ? ` --run-id ${runId}` : ''}`;
}

export const howToContinue = (waited: Parameters<typeof shellArguments>[0], { follow }: WaitingOptions): string =>
  `To continue waiting: \`belay wait ${shellArguments(waited)}${follow === true ? ' --follow' : ''}\``;

interface Stopping {
  readonly signal: AbortSignal;
  exitCode(): number;
  /** Call it with the run once it is known, and with each run that replaces it. */
  apply(to: Cancellable, what: string): void;
  end(): void;
}

type Cancellable = Pick<Waited<unknown>, 'cancel'> | typeof NOT_OURS;

/** The run that replaced that of this command: a job that is cancelled for a newer one must not cancel that one's run. */
const NOT_OURS = 'not ours';

/**
 * Handles signals and the timeout, which end the wait before the verdict, and sets the exit code for them. Call it before
 * the run is started: it keeps an early signal until the run is known, so that the user always sees the run's id.
 */
export function captureSignals({ waitTimeout, cancelOnInterrupt }: WaitingOptions): Stopping {
  const stopping = new AbortController();
  let exitCode: number = EXIT.stoppedWaiting;
  let run: Cancellable | null = null;
  let what = 'run';
  let interrupted = false;
  let cancelled = false;
  let timeout: NodeJS.Timeout | undefined;
  const stopOrCancel = () => {
    // A second signal means that the user does not want to wait for the cancelled run either.
    if (cancelOnInterrupt !== true || cancelled || run === NOT_OURS) return stopping.abort();
    if (run === null) return;
    cancelled = true;
    printNote(`Cancelling the ${what}. Interrupt again to stop waiting for it to finish.`);
    run.cancel().catch(() => stopping.abort());
  };
  const release = onSignal((signal) => {
    exitCode = SIGNAL_EXIT_CODES[signal];
    interrupted = true;
    stopOrCancel();
  });
  return {
    signal: stopping.signal,
    exitCode: () => exitCode,
    apply(to, named) {
      run = to;
      what = named;
      if (interrupted) stopOrCancel();
      if (waitTimeout !== undefined) timeout ??= setTimeout(() => stopping.abort(), waitTimeout);
    },
    end() {
      clearTimeout(timeout);
      release();
    },
  };
}
