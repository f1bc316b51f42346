/** Waiting for a verdict: what the commands do that exit with it. */
import type { RunResult } from '../../contract/run.ts';
import { SIGNAL_EXIT_CODES, takeInterruption } from '../../process/signals.ts';
import type { Run } from '../../starter.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { EXIT, exitCodeOf } from '../output/exit-codes.ts';
import { followLive } from './run-live.ts';
import { printResult, resultOfError } from '../output/run-text.ts';
import { runMarkdown, writeSummary } from '../output/markdown-summary.ts';
import { shellWord } from '../../contract/wording/safe-text.ts';

export interface WaitingOptions {
  json?: boolean;
  /** Milliseconds. */
  waitTimeout?: number;
  cancelOnInterrupt?: boolean;
  /** The file for a summary. */
  summary?: string;
}

/** A run, or a rollout. */
interface Waited<R> {
  readonly workflowId: string;
  readonly runId: string | null;
  readonly attached: boolean;
  result(options: { signal: AbortSignal }): Promise<R>;
  cancel(): Promise<void>;
}

/** How it is shown. */
export interface View<R> {
  what: string;
  /** Until stopped. */
  follow(): { stop(result: R): void };
  /** At the end, after all that was seen while it went on. */
  print(result: R, json: boolean): void;
  ofError(error: unknown): R;
  markdown(result: R): string;
}

export const viewOfRun = (run: Run): View<RunResult> => ({
  what: 'run',
  follow: () => followLive(run),
  print: printResult,
  ofError: resultOfError,
  markdown: runMarkdown,
});

/** Waits, prints the result, and gives the exit code. */
export async function waitAndPrint<R extends Pick<RunResult, 'outcome' | 'error'>>(
  waited: Waited<R>,
  view: View<R>,
  options: WaitingOptions,
  stopping: Stopping = holdSignals(options),
): Promise<number> {
  stopping.follow(waited);
  const live = view.follow();
  try {
    const { result, error } = await waited.result({ signal: stopping.signal }).then(
      (it) => ({ result: it, error: null }),
      (it: unknown) => ({ result: view.ofError(it), error: it }),
    );
    live.stop(result);
    view.print(result, options.json === true);
    await writeSummary(options.summary, () => view.markdown(result));
    if (!(error instanceof BelayError) || error.type !== 'StoppedWaiting') return exitCodeOf(result);
    const name = nameOf(waited);
    process.stderr.write(`To go on waiting: belay wait ${name}\nTo end the ${view.what}: belay cancel ${name}\n`);
    return stopping.exitCode();
  } finally {
    stopping.end();
  }
}

/** As arguments of a shell. */
function nameOf({ workflowId, runId, attached }: Pick<Run, 'workflowId' | 'runId' | 'attached'>): string {
  return `${shellWord(workflowId)}${attached && runId !== null ? ` --run-id ${runId}` : ''}`;
}

export interface Stopping {
  readonly signal: AbortSignal;
  exitCode(): number;
  /** From now on the run is known. */
  follow(run: Pick<Run, 'cancel'>): void;
  end(): void;
}

/**
 * What ends the waiting before the verdict, and the exit code that says so. To be called before a run is started: a
 * signal that comes while it isn't known yet waits until it is, so that nobody is left with a run he can't name.
 */
export function holdSignals({ waitTimeout, cancelOnInterrupt }: WaitingOptions): Stopping {
  const stopping = new AbortController();
  let exitCode: number = EXIT.stoppedWaiting;
  let run: Pick<Run, 'cancel'> | null = null;
  let interrupted = false;
  let cancelled = false;
  let timeout: NodeJS.Timeout | undefined;
  const stopOrCancel = () => {
    // The second time nobody wants to wait for what a cancelled run has to say.
    if (cancelOnInterrupt !== true || cancelled) return stopping.abort();
    if (run === null) return;
    cancelled = true;
    process.stderr.write('Cancelling the run; once more stops waiting for its end.\n');
    run.cancel().catch(() => stopping.abort());
  };
  const giveBack = takeInterruption((signal) => {
    exitCode = SIGNAL_EXIT_CODES[signal];
    interrupted = true;
    stopOrCancel();
  });
  return {
    signal: stopping.signal,
    exitCode: () => exitCode,
    follow(started) {
      run = started;
      if (interrupted) stopOrCancel();
      if (waitTimeout !== undefined) timeout = setTimeout(() => stopping.abort(), waitTimeout);
    },
    end() {
      clearTimeout(timeout);
      giveBack();
    },
  };
}
