/** Rounds in which ways take turns, so that what the machine does meanwhile meets all of them. */

/** Begins what it is asked to, unless it would pass the deadline when it takes as long as the longest so far. */
function createPace(deadlineMs: number) {
  let longestMs = 0;
  return {
    fits: () => Date.now() + longestMs <= deadlineMs,
    async timed(task: () => Promise<unknown>): Promise<void> {
      const startedMs = Date.now();
      await task();
      longestMs = Math.max(longestMs, Date.now() - startedMs);
    },
  };
}

export interface Turns<W> {
  /** How many were begun; at least one. */
  rounds: number;
  /** Those that had no turn. */
  missed: W[];
}

/**
 * Lets each way have a turn in each round, in an order that is drawn. Ends early where another round or turn would pass
 * the deadline. One turn is made in any case.
 */
export async function takeTurns<W>(
  ways: readonly W[],
  most: number,
  deadlineMs: number,
  turn: (way: W, round: number) => Promise<unknown>,
): Promise<Turns<W>> {
  const missed = new Set(ways);
  const [rounds, turns] = [createPace(deadlineMs), createPace(deadlineMs)];
  let begun = 0;
  for (let isFirst = true; begun < most && (isFirst || rounds.fits()); begun += 1) {
    await rounds.timed(async () => {
      for (const way of shuffled(ways)) {
        if (!isFirst && !turns.fits()) return;
        await turns.timed(() => turn(way, begun));
        isFirst = false;
        missed.delete(way);
      }
    });
  }
  return { rounds: begun, missed: [...missed] };
}

/** @param missed names of ways that had no turn. @returns what a report notes about them */
export const noteOfMissed = (missed: readonly string[]): string[] =>
  missed.length === 0 ? [] : [`The time was over before a turn of ${missed.join(', ')}.`];

/** In an order that is drawn. */
export function shuffled<T>(list: readonly T[]): T[] {
  const left = [...list];
  return list.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]!);
}
