/**
 * What follows the end of a POST. It is not idempotent, so it is sent again only when it certainly had no effect, and
 * after an ambiguous one nobody may claim that nothing was started. Pure: times are milliseconds since 1970.
 */
import type { ErrorType, Outcome } from '../../contract/run.ts';

export const MAX_WITHOUT_EFFECT = 5;

export type TriggerEnd<A> =
  | { kind: 'accepted'; answer: A }
  /** Certainly without effect: never connected, not sent, turned away with 429 or 503. */
  | { kind: 'without_effect'; message: string; retryAfterMs: number | null }
  /** 409, 423: somebody else's operation is in the way. */
  | { kind: 'conflict'; message: string; retryAfterMs: number | null }
  | { kind: 'refused'; message: string }
  /** Not sent, but an earlier execution of the same operation may have sent it. */
  | { kind: 'reset'; message: string }
  | { kind: 'ambiguous'; message: string };

/** The ends so far. */
export interface Ends {
  withoutEffect: number;
  conflicts: number;
  ambiguous: number;
  /** When the first POST ended: the budget for sending again runs from there. */
  firstMs: number | null;
}

export const NO_ENDS: Ends = { withoutEffect: 0, conflicts: 0, ambiguous: 0, firstMs: null };

export type TriggerStep =
  | { step: 'send'; atMs: number }
  /** Look for a trace; nothing is sent again before this. */
  | { step: 'reconcile'; notBeforeMs: number }
  | { step: 'end'; outcome: Extract<Outcome, 'not_started' | 'unknown'>; type: ErrorType; message: string };

export interface TriggerBudget {
  intervalMs: number;
  /** How long a POST without effect may be sent again, from the first end on. */
  resendMs: number;
  /** Until when somebody else's operation is waited for. */
  busyEndsMs: number;
}

export function countEnd(ends: Ends, end: TriggerEnd<unknown>, nowMs: number): Ends {
  return {
    withoutEffect: ends.withoutEffect + (end.kind === 'without_effect' ? 1 : 0),
    conflicts: ends.conflicts + (end.kind === 'conflict' ? 1 : 0),
    ambiguous: ends.ambiguous + (end.kind === 'ambiguous' ? 1 : 0),
    firstMs: ends.firstMs ?? nowMs,
  };
}

/** @param ends with this end counted */
export function afterTrigger(
  end: Exclude<TriggerEnd<unknown>, { kind: 'accepted' }>,
  ends: Ends,
  budget: TriggerBudget,
  nowMs: number,
): TriggerStep {
  if (end.kind === 'ambiguous') return { step: 'reconcile', notBeforeMs: nowMs };
  if (end.kind === 'reset') return { step: 'end', outcome: 'unknown', type: 'OutcomeUnknown', message: end.message };
  if (end.kind === 'refused') return nothingStarted(ends, 'Refused', end.message);
  if (ends.ambiguous > 0) {
    // What is in the way may be our own operation, and the next request could be one too many: look again first.
    const notBeforeMs = nowMs + (end.retryAfterMs ?? 0);
    const late = end.retryAfterMs !== null && notBeforeMs > (ends.firstMs ?? nowMs) + budget.resendMs;
    const spent = late || ends.withoutEffect + ends.conflicts >= MAX_WITHOUT_EFFECT;
    return spent ? nothingStarted(ends, 'OutcomeUnknown', end.message) : { step: 'reconcile', notBeforeMs };
  }
  const atMs = nowMs + (end.retryAfterMs ?? budget.intervalMs);
  if (end.kind === 'conflict') {
    return atMs <= budget.busyEndsMs ? { step: 'send', atMs } : nothingStarted(ends, 'Busy', end.message);
  }
  const spent = ends.withoutEffect >= MAX_WITHOUT_EFFECT || atMs > (ends.firstMs ?? nowMs) + budget.resendMs;
  return spent ? nothingStarted(ends, 'Refused', end.message) : { step: 'send', atMs };
}

function nothingStarted(ends: Ends, type: ErrorType, message: string): TriggerStep {
  if (ends.ambiguous === 0) return { step: 'end', outcome: 'not_started', type, message };
  return {
    step: 'end',
    outcome: 'unknown',
    type: 'OutcomeUnknown',
    message: `an earlier request may have had an effect; ${message}`,
  };
}
