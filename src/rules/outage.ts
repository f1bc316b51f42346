/**
 * Decides whether an operation parks. A parked operation waits for a service that does not answer, with few reads and
 * without a trigger. Pure: times are milliseconds since 1970.
 */
import type { ReadResult } from '../contract/activities.ts';
import { HISTORY_BUDGET } from '../contract/history-budget.ts';
import { TIMING } from '../contract/timing.ts';
import { durationText } from '../contract/duration.ts';
import { isUnauthorized, type GivenUp } from './read-failures.ts';
import { isForbidden, isWithoutEffect, type TriggerCounts, type TriggerResult } from './trigger-policy.ts';

export interface Outage {
  /** How long the operation may be parked in all. Null if it must not park. */
  budgetMs: number | null;
  spentMs: number;
  /** When the operation parked. Null if it is not parked. */
  sinceMs: number | null;
}

/** With these statuses, the service itself asks its callers to come back later. */
const LATER = [408, 425, 429];

/**
 * Judges what a read shows of the service. An answer that is not JSON comes from a balancer or proxy in front of the
 * service. A read that its worker could not make shows nothing.
 */
export function serviceState(read: ReadResult): 'answers' | 'down' | 'not_shown' {
  if (read.ok) return 'answers';
  const { kind, httpStatus, isJson } = read;
  if (kind === 'worker' || kind === 'other_service') return 'not_shown';
  if (['network', 'timeout', 'held_back', 'not_taken'].includes(kind)) return 'down';
  if (isUnauthorized(read)) return 'answers';
  const isLater = httpStatus !== null && (httpStatus >= 500 || LATER.includes(httpStatus));
  return isJson && !isLater ? 'answers' : 'down';
}

export const outageEndsMs = ({ budgetMs, spentMs, sinceMs }: Outage, nowMs: number): number =>
  (sinceMs ?? nowMs) + (budgetMs ?? 0) - spentMs;

/**
 * Returns when to read next while parked. Null if the budget does not allow another read. @param notBeforeMs what a
 * Retry-After allows
 */
export function parkedReadAtMs(outage: Outage, nowMs: number, notBeforeMs: number): number | null {
  const endsMs = outageEndsMs(outage, nowMs);
  if (outage.budgetMs === null || nowMs >= endsMs) return null;
  // A long outage must not fill the history.
  const pauseMs = Math.max(TIMING.poll.parkedPauseMs, Math.ceil(outage.budgetMs / HISTORY_BUDGET.maxParkedReads));
  const atMs = Math.max(Math.min(nowMs + pauseMs, endsMs), notBeforeMs);
  return atMs <= endsMs ? atMs : null;
}

export function endWithoutParking({ budgetMs }: Outage, reason: GivenUp): GivenUp {
  if (budgetMs === null) return reason;
  return { ...reason, message: `${reason.message}; the outage budget of ${durationText(budgetMs)} is used up` };
}

/**
 * True if a request that is not sent again may have met an outage. That request and all earlier ones certainly had no
 * effect. Neither a refused token nor a freeze is an outage.
 */
export const mayBeOutage = (result: TriggerResult<unknown>, counts: TriggerCounts): boolean =>
  isWithoutEffect(result) && !isForbidden(result) && counts.ambiguous === 0 && counts.unauthorized === 0;
