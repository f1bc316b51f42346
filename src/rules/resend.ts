/**
 * Decides whether a request in doubt may be sent once more: its answer was lost, so the service may have received it. A
 * site must not be deployed twice, so reads without a gap have to show that nothing came of the request. A backup has no
 * status to read before its id is known, and is made once more. Pure: times are milliseconds since 1970.
 */
import type { ReadResult } from '../contract/activities.ts';
import type { DeploySiteInput } from '../contract/operation.ts';
import { TIMING } from '../contract/timing.ts';
import { isNotDeployed } from './never-deployed.ts';
import { answeredMs } from './poll-state.ts';
import {
  ID_FIELD_REMEDY,
  observe,
  traceOf,
  type Observations,
  type ReadAt,
  type Trace,
  type VerdictContext,
} from './verdict.ts';

/** A second request in doubt ends the operation. */
export const MAX_AMBIGUITIES = 1;

/** What reads have shown since a deployment was requested. */
export interface Watched {
  seen: Observations;
  coverage: ReadCoverage;
  trace: Trace | null;
}

/** @returns what is known with this read */
export function watchRead(
  context: VerdictContext,
  { seen: before, coverage, trace }: Watched,
  read: ReadResult,
  { own, nowMs }: ReadAt,
): Watched {
  const isAnswered = read.ok || (context.baseline === null && isNotDeployed(read));
  const covered = isAnswered ? recordRead(coverage, answeredMs(read, nowMs), nowMs) : coverage;
  if (!read.ok) return { seen: before, coverage: covered, trace };
  const seen = observe(context, before, read, { own, nowMs });
  const isTakenBack = trace?.by === 'changed' && trace.doubt !== 'appeared';
  const earlier: Trace | null = isTakenBack ? { ...trace, doubt: 'taken_back' } : trace;
  return { seen, coverage: covered, trace: traceOf(context, seen, read, { nowMs, before: trace }) ?? earlier };
}

/** The trace that is beyond doubt, or null. */
export const lastingTrace = ({ trace, seen }: Watched): Trace | null =>
  trace !== null && trace.doubt !== null && !seen.inProgress ? null : trace;

/**
 * Call it after the settle time, if there is no lasting trace.
 *
 * @param isRefused whether the service answered the last request with 409 or 423
 * @returns why the deployment must not be requested again; null if it may be
 */
export function whyNotResent(
  { coverage, seen, trace }: Watched,
  { ambiguities, isRefused }: { ambiguities: number; isRefused: boolean },
  { onAmbiguous, intervalMs }: Pick<DeploySiteInput, 'onAmbiguous' | 'intervalMs'>,
  nowMs: number,
): string | null {
  if (seen.kept !== null)
    return `the status changed, and its answer kept the id of the deployment before; ${ID_FIELD_REMEDY}`;
  if (seen.foreign) return 'another deployment was in progress after the request';
  if (trace?.doubt === 'appeared') return `an id appeared where the baseline had none; ${ID_FIELD_REMEDY}`;
  if (trace?.doubt === 'no_id') return 'the status changed in answers without an id, and that has not lasted';
  if (trace?.doubt === 'once') return `no two reads in a row showed the same new id; ${ID_FIELD_REMEDY}`;
  if (trace !== null) return 'the status changed, and a later read took the change back';
  if (isRefused) return 'the service refused another request because of an operation in progress, which may be ours';
  if (ambiguities > MAX_AMBIGUITIES) return 'the request was sent twice, and neither attempt left a trace';
  if (onAmbiguous === 'stop') return 'the request left no trace, and the run must not send it again';
  if (hasNoGaps(coverage, intervalMs, nowMs)) return null;
  return 'the request left no trace, but the status was not read for a while';
}

export interface ReadCoverage {
  postMs: number;
  /** When the last read was answered, or earlier. */
  lastReadMs: number | null;
  longestGapMs: number;
}

export const startReadCoverage = (postMs: number): ReadCoverage => ({ postMs, lastReadMs: null, longestGapMs: 0 });

/**
 * Call this only for answered reads, because a failed read shows nothing.
 *
 * @param readMs when the read was answered, or earlier
 * @param nowMs when the read was answered, or later, so that a gap never seems shorter than it was
 */
export function recordRead(coverage: ReadCoverage, readMs: number, nowMs = readMs): ReadCoverage {
  const gapMs = coverage.lastReadMs === null ? 0 : nowMs - coverage.lastReadMs;
  if (coverage.lastReadMs === null && nowMs - coverage.postMs > TIMING.verdict.coverageSlackMs) {
    return { ...coverage, lastReadMs: readMs, longestGapMs: Infinity };
  }
  return { ...coverage, lastReadMs: readMs, longestGapMs: Math.max(coverage.longestGapMs, gapMs) };
}

/** Nothing was read while the service was down, however short the outage was. */
export const recordOutage = (coverage: ReadCoverage): ReadCoverage => ({ ...coverage, longestGapMs: Infinity });

/** True if a read followed the POST within five seconds, and no gap since was over the interval plus five seconds. */
export function hasNoGaps(coverage: ReadCoverage, intervalMs: number, nowMs: number): boolean {
  if (coverage.lastReadMs === null) return false;
  return Math.max(coverage.longestGapMs, nowMs - coverage.lastReadMs) <= intervalMs + TIMING.verdict.coverageSlackMs;
}
