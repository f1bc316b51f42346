/** What failed reads cost: never a try, but not for ever. Pure: times are milliseconds since 1970. */
import type { ErrorType, ReadFailure } from '../../contract/run.ts';

export const MAX_FAILED_READS_IN_A_ROW = 10;
const UNAUTHORIZED_PATIENCE_MS = 120_000;
const MIN_WHOLE_MS = 30_000;

export interface FailedReads {
  inARow: number;
  /** When the first 401 or 403 of this row came: a rotated token is given time to arrive. */
  unauthorizedSinceMs: number | null;
}

export const NO_FAILED_READS: FailedReads = { inARow: 0, unauthorizedSinceMs: null };

export interface GivenUp {
  type: Extract<ErrorType, 'OutcomeUnknown' | 'Refused'>;
  message: string;
}

/** The end of an operation's whole time: beyond it no failed read is made again. */
export function wholeTimeEndsMs(originMs: number, intervalMs: number, tries: number): number {
  return originMs + Math.max((tries + 2) * intervalMs, MIN_WHOLE_MS);
}

export const isUnauthorized = (read: ReadFailure): boolean => read.httpStatus === 401 || read.httpStatus === 403;

export function afterFailedRead(before: FailedReads, read: ReadFailure, nowMs: number): FailedReads {
  const unauthorized = isUnauthorized(read);
  return {
    inARow: before.inARow + (unauthorized ? 0 : 1),
    unauthorizedSinceMs: before.unauthorizedSinceMs ?? (unauthorized ? nowMs : null),
  };
}

/** Whether to give up on reading. @param nextAtMs when the next read would be made */
export function givenUp(
  failed: FailedReads,
  read: ReadFailure,
  times: { nowMs: number; nextAtMs: number; wholeEndsMs: number },
): GivenUp | null {
  const { nowMs, nextAtMs, wholeEndsMs } = times;
  if (isUnauthorized(read)) {
    const patienceEndsMs = (failed.unauthorizedSinceMs ?? nowMs) + UNAUTHORIZED_PATIENCE_MS;
    const over = nextAtMs > Math.min(patienceEndsMs, wholeEndsMs);
    return over ? { type: 'Refused', message: `the status could not be read any more: ${read.message}` } : null;
  }
  const type = 'OutcomeUnknown';
  if (failed.inARow >= MAX_FAILED_READS_IN_A_ROW) {
    return { type, message: `${failed.inARow} reads in a row failed, the last one so: ${read.message}` };
  }
  if (nextAtMs <= wholeEndsMs) return null;
  return { type, message: `the time for reads that fail is over, the last one failed so: ${read.message}` };
}
