/**
 * How late the reads of this worker are. Temporal's clock says when a read is due, and this worker's when it is made. The
 * difference of a punctual read shows how far the clocks are apart, so the least difference of late counts as none.
 */

export interface Lateness {
  /** Call it when a read is made. @param dueMs when it was due, by Temporal's clock */
  note(dueMs: number): void;
  /** What has been noted since the last call, in ms, sorted. */
  take(): number[];
}

/** Clocks drift apart by less than a read is late in this time. */
const MEMORY_MS = 5 * 60_000;
/** A clock was set, or Temporal was away. Load alone makes no read this late. */
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
        least = { before: least.now, now: Infinity };
        sinceMs = nowMs;
      }
      if (apartMs - Math.min(least.before, least.now) > IMPLAUSIBLE_MS) least = { before: Infinity, now: Infinity };
      least.now = Math.min(least.now, apartMs);
      noted.push(apartMs - Math.min(least.before, least.now));
    },
    take() {
      const taken = noted.sort((a, b) => a - b);
      noted = [];
      return taken;
    },
  };
}
