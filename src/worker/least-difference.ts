/**
 * Estimates how far two clocks are apart, from messages of one machine that carry its time. A message takes a while to arrive,
 * so the smallest recent difference is the nearest to the truth.
 */

/** In this time, clocks drift apart by less than matters. */
export const MEMORY_MS = 5 * 60_000;

/** @param clockMs only tells how long ago something was noted */
export function createLeastDifference(clockMs: () => number) {
  let sinceMs = -Infinity;
  // The least of two windows. A new window begins every five minutes, so a difference counts for five to ten minutes.
  let least = { before: Infinity, now: Infinity };

  function forgetOld(): void {
    const nowMs = clockMs();
    if (nowMs - sinceMs <= MEMORY_MS) return;
    least = { before: nowMs - sinceMs > 2 * MEMORY_MS ? Infinity : least.now, now: Infinity };
    sinceMs = nowMs;
  }

  return {
    /** Infinity before the first difference, and after a pause. */
    leastMs(): number {
      forgetOld();
      return Math.min(least.before, least.now);
    },
    note(apartMs: number) {
      forgetOld();
      least.now = Math.min(least.now, apartMs);
    },
    forget() {
      least = { before: Infinity, now: Infinity };
    },
  };
}
