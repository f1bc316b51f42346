/**
 * How late the reads of this worker are. Temporal's clock says when a read is due, and this worker's when it is made. The
 * difference of a punctual read shows how far the clocks are apart, so the least difference of late counts as none.
 */
import { createLeastDifference } from './least-difference.ts';

export interface Lateness {
  /** Call it when a read is made. @param dueMs when it was due, by Temporal's clock. @returns how late it is */
  note(dueMs: number): number;
  /** What has been noted since the last call, in ms, sorted. */
  take(): number[];
}

/** A clock may have been set, so the next read is compared with this one. */
const IMPLAUSIBLE_MS = 60_000;

export function createLateness(clockMs: () => number): Lateness {
  const difference = createLeastDifference(clockMs);
  let noted: number[] = [];

  return {
    note(dueMs) {
      const apartMs = clockMs() - dueMs;
      const lateMs = Math.max(0, apartMs - difference.leastMs());
      if (lateMs > IMPLAUSIBLE_MS) difference.forget();
      difference.note(apartMs);
      noted.push(lateMs);
      return lateMs;
    },
    take() {
      const taken = noted.sort((a, b) => a - b);
      noted = [];
      return taken;
    },
  };
}
