/** Shows the status of a run or rollout until it has ended, for `belay status --watch`. */
import { printNote } from '../process/print.ts';
import { captureSignals, nameOf, type View, type Waited } from './wait-for-verdict.ts';

/** @returns null once it has ended or cannot be followed, else the exit code of the user who stopped watching */
export async function watchUntilEnd<R>(
  waited: Waited<R>,
  { what, follow, ofError }: Pick<View<R>, 'what' | 'follow' | 'ofError'>,
): Promise<number | null> {
  const stopping = captureSignals({});
  const live = follow();
  try {
    const result = await waited.result({ signal: stopping.signal }).catch(ofError);
    live.stop(result);
    if (!stopping.signal.aborted) return null;
    printNote(`The ${what} continues. To watch it again: \`belay status ${nameOf(waited)} --watch\``);
    return stopping.exitCode();
  } finally {
    stopping.end();
  }
}
