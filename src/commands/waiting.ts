/** Waiting for a run's verdict: what the commands do that exit with it. */
import { SIGNAL_EXIT_CODES, takeInterruption } from '../interruption.ts';
import { BelayError, type Run } from '../starter.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { followLive } from './live.ts';
import { printResult, resultOfError } from './output.ts';
import { shellWord } from '../text.ts';

export interface WaitingOptions {
  json?: boolean;
  /** Milliseconds. */
  waitTimeout?: number;
  cancelOnInterrupt?: boolean;
}

/** Waits, prints the result, and gives the exit code. */
export async function waitAndPrint(
  run: Run,
  options: WaitingOptions,
  stopping: Stopping = holdSignals(options),
): Promise<number> {
  stopping.follow(run);
  const live = followLive(run);
  try {
    const result = await run.result({ signal: stopping.signal });
    live.stop();
    printResult(result, options.json === true);
    return exitCodeOf(result);
  } catch (error) {
    live.stop();
    const result = resultOfError(error);
    printResult(result, options.json === true);
    if (!(error instanceof BelayError) || error.type !== 'StoppedWaiting') return exitCodeOf(result);
    process.stderr.write(`To go on waiting: belay wait ${nameOf(run)}\nTo end the run: belay cancel ${nameOf(run)}\n`);
    return stopping.exitCode();
  } finally {
    stopping.end();
  }
}

/** As arguments of a shell. */
function nameOf({ workflowId, runId, attached }: Run): string {
  return `${shellWord(workflowId)}${attached && runId !== null ? ` --run-id ${runId}` : ''}`;
}

export interface Stopping {
  readonly signal: AbortSignal;
  exitCode(): number;
  /** From now on the run is known. */
  follow(run: Run): void;
  end(): void;
}

/**
 * What ends the waiting before the verdict, and the exit code that says so. To be called before a run is started: a
 * signal that comes while it isn't known yet waits until it is, so that nobody is left with a run he can't name.
 */
export function holdSignals({ waitTimeout, cancelOnInterrupt }: WaitingOptions): Stopping {
  const stopping = new AbortController();
  let exitCode: number = EXIT.stoppedWaiting;
  let run: Run | null = null;
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
    follow(started: Run) {
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
