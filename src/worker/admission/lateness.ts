/**
 * How late the reads of this worker are. Temporal's clock says when a read is due, and this worker's when it is made. The
 * difference of a punctual read shows how far the clocks are apart, so the least difference of late counts as none.
 */

export interface Lateness {
  /** Call it when a read is made. @param dueMs when it was due, by Temporal's clock. @returns how late it is */
  note(dueMs: number): number;
  /** What has been noted since the last call, in ms, sorted. */
  take(): number[];
}

/** In this time, clocks drift apart by less than what counts as late. */
const MEMORY_MS = 5 * 60_000;
/** A clock may have been set, so the next read is compared with this one. */
const IMPLAUSIBLE_MS = 60_000;

export function createLateness(clockMs: () => number): Lateness {
  let sinceMs = -Infinity;
  let least = { before: Infinity, now: Infinity };
  let noted: number[] = [];

  return {
    note(dueMs) {
      const nowMs = clockMs();
      const apartMs = nowMs - dueMs;
      if (nowMs - sinceMs > MEMORY_MS) {
        least = { before: nowMs - sinceMs > 2 * MEMORY_MS ? Infinity : least.now, now: Infinity };
        sinceMs = nowMs;
      }
      const lateMs = Math.max(0, apartMs - Math.min(least.before, least.now));
      if (lateMs > IMPLAUSIBLE_MS) least = { before: Infinity, now: Infinity };
      least.now = Math.min(least.now, apartMs);
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
