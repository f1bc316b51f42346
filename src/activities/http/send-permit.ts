/** How long a POST may still be sent after Temporal was asked about it. */
import type { SendPermit } from '../../hosting-api/index.ts';

export interface Clocks {
  wallMs: () => number;
  monotonicMs: () => number;
}

const OWN: Clocks = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

/**
 * The permit counts from now on. Only differences of one clock count, never its time. On Linux the monotonic clock
 * stops while the machine is suspended, and the wall clock can be set back, so the one that shows more time counts.
 */
export function grantPermit(forMs: number, clocks = OWN): SendPermit {
  const [wallMs, monotonicMs] = [clocks.wallMs(), clocks.monotonicMs()];
  return { leftMs: () => forMs - Math.max(clocks.wallMs() - wallMs, clocks.monotonicMs() - monotonicMs) };
}
