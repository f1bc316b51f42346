/** Spreads the polls of runs that start together. Pure. */

/** The largest part of an interval by which tries are delayed. */
const MAX_PART = 1 / 5;

/**
 * The part of its interval by which a run delays every try. A run that a rollout or schedule started gets a drawn one; a
 * single run keeps its beat.
 * @param random from 0 up to 1
 */
export function drawJitter(startsWithOthers: boolean, random: () => number): number {
  return startsWithOthers ? random() * MAX_PART : 0;
}

/** @param jitter absent in the input of operations that began before there was one */
export const jitterMs = (intervalMs: number, jitter = 0): number => Math.floor(jitter * intervalMs);
