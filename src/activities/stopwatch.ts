/** The clocks of a worker, and a stopwatch for the permit of a POST, which ends some time after Temporal was asked. */

export interface Clocks {
  wallMs: () => number;
  monotonicMs: () => number;
}

export const MACHINE_CLOCKS: Clocks = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

/**
 * Counts from now on. Only differences of one clock matter. On Linux the monotonic clock stops while the machine is
 * suspended, and the wall clock can be set back, so the clock that shows more time counts.
 */
export function startStopwatch(clocks: Clocks): () => number {
  const [wallMs, monotonicMs] = [clocks.wallMs(), clocks.monotonicMs()];
  return () => Math.max(clocks.wallMs() - wallMs, clocks.monotonicMs() - monotonicMs);
}
