/** Tracks whether reads since a POST left gaps. Pure: times are milliseconds since 1970. */
import type { ReadResult } from '../contract/activities.ts';
import { TIMING } from '../contract/timing.ts';

export interface ReadCoverage {
  postMs: number;
  /** When the last read was answered, or earlier. */
  lastReadMs: number | null;
  longestGapMs: number;
}

export const startReadCoverage = (postMs: number): ReadCoverage => ({ postMs, lastReadMs: null, longestGapMs: 0 });

/** When a read was answered, or earlier: Temporal may have been away since, and what it showed may be over. */
export const answeredMs = (read: ReadResult, nowMs: number): number => Math.min(read.answeredMs ?? nowMs, nowMs);

/**
 * Call it for answered reads only: a failed one shows nothing. @param readMs when it was answered, or earlier
 * @param nowMs when it was answered, or later: a gap must not seem shorter than it was
 */
export function recordRead(coverage: ReadCoverage, readMs: number, nowMs = readMs): ReadCoverage {
  const gapMs = coverage.lastReadMs === null ? 0 : nowMs - coverage.lastReadMs;
  if (coverage.lastReadMs === null && nowMs - coverage.postMs > TIMING.verdict.coverageSlackMs) {
    return { ...coverage, lastReadMs: readMs, longestGapMs: Infinity };
  }
  return { ...coverage, lastReadMs: readMs, longestGapMs: Math.max(coverage.longestGapMs, gapMs) };
}

/** Nothing was read while the service was down, however short that was. */
export const recordOutage = (coverage: ReadCoverage): ReadCoverage => ({ ...coverage, longestGapMs: Infinity });

/** True if a read followed the POST within five seconds, and no gap since was over the interval plus five seconds. */
export function hasNoGaps(coverage: ReadCoverage, intervalMs: number, nowMs: number): boolean {
  if (coverage.lastReadMs === null) return false;
  return Math.max(coverage.longestGapMs, nowMs - coverage.lastReadMs) <= intervalMs + TIMING.verdict.coverageSlackMs;
}
