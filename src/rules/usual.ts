/** What is usual, by past durations. Some of them are known only to be longer than a limit. Pure. */

export interface Observation {
  ms: number;
  /** False if the operation took longer than `ms`: by how much is not known. */
  ended: boolean;
}

/** Absorbs the rounding errors of products of quotients. */
const ROUNDING = 1e-9;

/**
 * Estimates by Kaplan and Meier the least duration by which at least this part has ended. If every observation ended,
 * this is the value at the nearest rank.
 *
 * @param part more than 0, at most 1
 * @returns null if a smaller part was seen to end
 */
export function quantile(observations: readonly Observation[], part: number): number | null {
  // At equal durations, an end sorts before a limit: the operation that reached the limit was still in progress.
  const sorted = observations.toSorted((a, b) => a.ms - b.ms || Number(b.ended) - Number(a.ended));
  let inProgress = 1;
  for (const [index, { ms, ended }] of sorted.entries()) {
    if (!ended) continue;
    inProgress *= 1 - 1 / (sorted.length - index);
    if (inProgress <= 1 - part + ROUNDING) return ms;
  }
  return null;
}

export const ended = (ms: number): Observation => ({ ms, ended: true });

export interface Usual {
  usuallyMs: number;
  /** Null if more than a twentieth timed out, so that it is not known. */
  p95Ms: number | null;
  n: number;
}

export const LEAST_FOR_USUAL = 5;

/** @returns null if too few are known, or if most of them timed out */
export function usualOf(past: readonly Observation[]): Usual | null {
  if (past.length < LEAST_FOR_USUAL) return null;
  const usuallyMs = quantile(past, 0.5);
  return usuallyMs === null ? null : { usuallyMs, p95Ms: quantile(past, 0.95), n: past.length };
}
