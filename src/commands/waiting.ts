/** Waiting for a run's verdict: what the commands do that exit with it. */
import { BelayError, type Run } from '../starter.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { followLive } from './live.ts';
import { printResult, resultOfError } from './output.ts';

const INTERRUPTIONS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;

/** Waits, prints the result, and gives the exit code. */
export async function waitAndPrint(run: Run, options: { json: boolean }): Promise<number> {
  const stopping = new AbortController();
  let interruptedBy: number | null = null;
  const handlers = Object.entries(INTERRUPTIONS).map(([signal, code]) => {
    const handler = () => {
      interruptedBy = code;
      stopping.abort();
    };
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  const live = followLive(run);
  try {
    const result = await run.result({ signal: stopping.signal });
    live.stop();
    printResult(result, options.json);
    return exitCodeOf(result);
  } catch (error) {
    live.stop();
    const result = resultOfError(error);
    printResult(result, options.json);
    if (!(error instanceof BelayError) || error.type !== 'StoppedWaiting') return exitCodeOf(result);
    process.stderr.write(
      `To go on waiting: belay wait ${run.workflowId}\nTo end the run: belay cancel ${run.workflowId}\n`,
    );
    return interruptedBy ?? EXIT.stoppedWaiting;
  } finally {
    for (const remove of handlers) remove();
  }
}
