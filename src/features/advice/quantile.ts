/** Quantiles of durations of which some are known only to be longer than a limit. Pure. */

export interface Observation {
  ms: number;
  /** False: it took longer than `ms`, by how much is not known. */
  ended: boolean;
}

/** Products of quotients come out this much off. */
const ROUNDING = 1e-9;

/**
 * The least duration by which at least this part has ended, estimated by Kaplan and Meier. Without observations that did
 * not end, it is the value at the nearest rank.
 *
 * @param part more than 0, at most 1
 * @returns null if fewer than that were seen to end
 */
export function quantile(observations: readonly Observation[], part: number): number | null {
  // At the same duration, an end comes before a limit: what only reached the limit was still in progress.
  const sorted = observations.toSorted((a, b) => a.ms - b.ms || Number(b.ended) - Number(a.ended));
  let inProgress = 1;
  for (const [index, { ms, ended }] of sorted.entries()) {
    if (!ended) continue;
    inProgress *= 1 - 1 / (sorted.length - index);
    if (inProgress <= 1 - part + ROUNDING) return ms;
  }
  return null;
}
