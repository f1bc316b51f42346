/** Rounds in which ways take turns, so that what the machine does meanwhile meets all of them. */

/**
 * Makes rounds until there are enough, or until another one as long as the longest so far would pass the deadline.
 * @returns how many were made; at least one
 */
export async function makeRounds(
  most: number,
  deadlineMs: number,
  round: (index: number) => Promise<unknown>,
): Promise<number> {
  let longestMs = 0;
  for (let index = 0; index < most; index += 1) {
    const startedMs = Date.now();
    if (index > 0 && startedMs + longestMs > deadlineMs) return index;
    await round(index);
    longestMs = Math.max(longestMs, Date.now() - startedMs);
  }
  return most;
}

/** In an order that is drawn. */
export function shuffled<T>(list: readonly T[]): T[] {
  const left = [...list];
  return list.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]!);
}
