/** Waiting for a run's verdict: what the commands do that exit with it. */
import { BelayError, type Run } from '../starter.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { followLive } from './live.ts';
import { printResult, resultOfError } from './output.ts';

const INTERRUPTIONS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;

export interface WaitingOptions {
  json?: boolean;
  /** Milliseconds. */
  waitTimeout?: number;
  cancelOnInterrupt?: boolean;
}

/** Waits, prints the result, and gives the exit code. */
export async function waitAndPrint(run: Run, options: WaitingOptions): Promise<number> {
  const stopping = stopOnSignals(run, options);
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
    process.stderr.write(
      `To go on waiting: belay wait ${run.workflowId}\nTo end the run: belay cancel ${run.workflowId}\n`,
    );
    return stopping.exitCode();
  } finally {
    stopping.end();
  }
}

/** What ends the waiting before the verdict, and the exit code that says so. */
function stopOnSignals(run: Run, { waitTimeout, cancelOnInterrupt }: WaitingOptions) {
  const stopping = new AbortController();
  let exitCode: number = EXIT.stoppedWaiting;
  let interrupted = false;
  const interrupt = (signal: NodeJS.Signals) => {
    exitCode = INTERRUPTIONS[signal as keyof typeof INTERRUPTIONS];
    // The second time nobody wants to wait for what a cancelled run has to say.
    if (cancelOnInterrupt !== true || interrupted) return stopping.abort();
    interrupted = true;
    process.stderr.write('Cancelling the run; once more stops waiting for its end.\n');
    run.cancel().catch(() => stopping.abort());
  };
  const timeout = waitTimeout === undefined ? undefined : setTimeout(() => stopping.abort(), waitTimeout);
  for (const signal of Object.keys(INTERRUPTIONS)) process.on(signal, interrupt);
  return {
    signal: stopping.signal,
    exitCode: () => exitCode,
    end() {
      clearTimeout(timeout);
      for (const signal of Object.keys(INTERRUPTIONS)) process.off(signal, interrupt);
    },
  };
}
