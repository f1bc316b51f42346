/** Whether we watched the service since a POST, or were blind for a while. Pure: times are milliseconds since 1970. */

const SLACK_MS = 5_000;

export interface Coverage {
  postMs: number;
  lastReadMs: number | null;
  longestGapMs: number;
}

export const startCoverage = (postMs: number): Coverage => ({ postMs, lastReadMs: null, longestGapMs: 0 });

/** Counts an answered read; a failed one saw nothing. */
export function covered(coverage: Coverage, readMs: number): Coverage {
  const gapMs = coverage.lastReadMs === null ? 0 : readMs - coverage.lastReadMs;
  if (coverage.lastReadMs === null && readMs - coverage.postMs > SLACK_MS) {
    return { ...coverage, lastReadMs: readMs, longestGapMs: Infinity };
  }
  return { ...coverage, lastReadMs: readMs, longestGapMs: Math.max(coverage.longestGapMs, gapMs) };
}

/** A read within five seconds of the POST, and no gap over the interval and five seconds since. */
export function watched(coverage: Coverage, intervalMs: number, nowMs: number): boolean {
  if (coverage.lastReadMs === null) return false;
  return Math.max(coverage.longestGapMs, nowMs - coverage.lastReadMs) <= intervalMs + SLACK_MS;
}
