/** Limits how many deliveries of a source become events. Pure. */

/** @returns 0 if another event is allowed now, else the milliseconds until one is */
export type RateCap = (nowMs: number) => number;

const MINUTE_MS = 60_000;
/** Sums of fractions fall short of a whole number. */
const ROUNDING = 1e-6;

export const DEFAULT_PER_MINUTE = 1_200;

/** Allows the events of a minute at once, and then as many as become free. */
export function createRateCap(maxPerMinute: number): RateCap {
  const perMs = maxPerMinute / MINUTE_MS;
  let free = maxPerMinute;
  let lastMs = -Infinity;
  return (nowMs) => {
    free = Math.min(maxPerMinute, free + (nowMs - lastMs) * perMs);
    lastMs = nowMs;
    if (free < 1 - ROUNDING) return Math.ceil((1 - free) / perMs);
    free -= 1;
    return 0;
  };
}
