/**
 * Decides when to read a status from how long the same operation took before. Pure. Two guards keep a learned schedule
 * from being worse than even reads: it has to promise a clear gain, and it has to have earned it in the last runs.
 */
import { expectDuration } from './expectation.ts';
import { evenReads, expectedDelayMs, placeReads, type Beat } from './place-reads.ts';

/** How many past operations decide. The shorter memory follows durations that change. */
const MEMORIES = [20, 5] as const;
/** How many are compared in hindsight. */
const MAX_COMPARED = 10;
/** What happened before these is not used. */
export const MAX_PAST = MEMORIES[0] + MAX_COMPARED;
const LEAST_KNOWN = 3;
const LEAST_GAIN = 0.25;

/**
 * @param pastMs how long past operations took, the newest first; null for one that did not end in time
 * @returns when to make the tries, in milliseconds after the acceptance; null for a try at each interval
 */
export function learnReads(pastMs: readonly (number | null)[], beat: Beat): number[] | null {
  const ways = MEMORIES.map((memory) => (known: readonly (number | null)[]) => planFrom(known.slice(0, memory), beat));
  const compared = ways.map((way) => ({ way, delayMs: delayInHindsight(pastMs, beat, way) }));
  const best = compared.reduce((least, it) => (it.delayMs < least.delayMs ? it : least));
  return best.delayMs > delayInHindsight(pastMs, beat, () => null) ? null : best.way(pastMs);
}

type Way = (known: readonly (number | null)[]) => number[] | null;

/** @returns null unless it promises a clear gain */
function planFrom(pastMs: readonly (number | null)[], beat: Beat): number[] | null {
  if (pastMs.filter((ms) => ms !== null).length < LEAST_KNOWN) return null;
  const expected = expectDuration(pastMs, beat.tries * beat.intervalMs);
  const reads = placeReads(expected, beat);
  if (reads === null) return null;
  const evenDelayMs = expectedDelayMs(expected, evenReads(beat));
  return expectedDelayMs(expected, reads) <= (1 - LEAST_GAIN) * evenDelayMs ? reads : null;
}

/** What the last operations would have been delayed in all, each planned from those before it. */
function delayInHindsight(pastMs: readonly (number | null)[], beat: Beat, way: Way): number {
  const even = evenReads(beat);
  return pastMs.slice(0, MAX_COMPARED).reduce<number>((sum, tookMs, index) => {
    if (tookMs === null) return sum;
    const reads = way(pastMs.slice(index + 1)) ?? even;
    return sum + ((reads.find((ms) => ms >= tookMs) ?? tookMs) - tookMs);
  }, 0);
}
