/** For commands that take several servers, sites or apps, and do the same with each of them. */
import { printNote } from '../process/print.ts';

/**
 * Does it with one after another. If one fails, the user learns what has happened by then.
 * @param done what a finished one is reported as
 */
export async function inTurn<T, R>(
  items: readonly T[],
  act: (item: T) => Promise<R>,
  done: (result: R) => string,
): Promise<R[]> {
  const results: R[] = [];
  try {
    for (const item of items) results.push(await act(item));
    return results;
  } catch (error) {
    printNote(results.map((it) => `done before it failed: ${done(it)}`));
    throw error;
  }
}
