/** Decides when failed reads end an operation. They never use up a try. Pure: times are milliseconds since 1970. */
import { TIMING } from '../contract/timing.ts';
import type { ErrorType } from '../contract/names.ts';
import type { ReadFailure, ReadResult } from '../contract/activities.ts';
import type { FailedReads } from '../contract/polling.ts';

const MAX_FAILED_READS_IN_A_ROW = 10;

export const NO_FAILED_READS: FailedReads = { inARow: 0, unauthorizedSinceMs: null };

export interface GivenUp {
  type: Extract<ErrorType, 'OutcomeUnknown' | 'Refused'>;
  message: string;
}

/** Returns when the whole time of a wait ends. After it, a failed read is not repeated. */
export function wholeTimeEndsMs(originMs: number, intervalMs: number, tries: number): number {
  return originMs + Math.max((tries + 2) * intervalMs, TIMING.poll.minWholeMs);
}

export const isUnauthorized = (read: ReadFailure): boolean => read.httpStatus === 401 || read.httpStatus === 403;

/**
 * Returns when a read that was held back because of a rate limit may be repeated. Null for any other read. The service
 * asks to wait, or the worker keeps the ceiling; neither says anything about the operation.
 */
export function heldBackUntilMs(read: ReadResult, nowMs: number): number | null {
  if (read.ok) return null;
  const { kind, httpStatus, retryAfterMs } = read;
  const isHeldBack = kind === 'held_back' || httpStatus === 429 || (httpStatus === 503 && retryAfterMs !== null);
  if (!isHeldBack) return null;
  const { defaultPauseMs, leastPauseMs } = TIMING.pace;
  // The worker itself knows the turn of a read that it held back.
  return nowMs + Math.max(retryAfterMs ?? defaultPauseMs, kind === 'held_back' ? 0 : leastPauseMs);
}

/** A worker whose token is rejected rests. If no other one takes a read then, the token is still the cause. */
export const isRefused = ({ unauthorizedSinceMs }: FailedReads, read: ReadFailure): boolean =>
  isUnauthorized(read) || (unauthorizedSinceMs !== null && read.kind === 'not_taken');

export function afterFailedRead(before: FailedReads, read: ReadFailure, nowMs: number): FailedReads {
  const unauthorized = isRefused(before, read);
  return {
    inARow: before.inARow + (unauthorized ? 0 : 1),
    unauthorizedSinceMs: before.unauthorizedSinceMs ?? (unauthorized ? nowMs : null),
  };
}

/** Decides whether to give up on reading. @param nextAtMs when the next read would be made */
export function givenUp(
  failed: FailedReads,
  read: ReadFailure,
  times: { nowMs: number; nextAtMs: number; wholeEndsMs: number },
): GivenUp | null {
  const { nowMs, nextAtMs, wholeEndsMs } = times;
  if (isRefused(failed, read)) {
    const patienceEndsMs = (failed.unauthorizedSinceMs ?? nowMs) + TIMING.poll.unauthorizedPatienceMs;
    const over = nextAtMs > Math.min(patienceEndsMs, wholeEndsMs);
    const message = isUnauthorized(read) ? read.message : `${read.message}, after the service rejected the token`;
    return over ? { type: 'Refused', message: `the status could no longer be read: ${message}` } : null;
  }
  const type = 'OutcomeUnknown';
  if (failed.inARow >= MAX_FAILED_READS_IN_A_ROW) {
    return { type, message: `${failed.inARow} reads in a row failed, the last one with: ${read.message}` };
  }
  if (nextAtMs <= wholeEndsMs) return null;
  return { type, message: `the time for retrying failed reads is over, the last one failed with: ${read.message}` };
}

/**
 * The message of a failed read that no retry will fix, or null. Only for reads before anything was started.
 * @param notFound whether a 404 is such a failure, because there is nothing to read
 */
export function refusalOf(read: ReadResult, notFound = false): string | null {
  if (read.ok || read.httpStatus === null) return null;
  const { httpStatus } = read;
  if (httpStatus === 404) return notFound ? read.message : null;
  const isTransient = httpStatus >= 500 || [408, 409, 423, 425, 429].includes(httpStatus);
  return isTransient ? null : read.message;
}
