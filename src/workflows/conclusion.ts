/** Concludes a workflow: with its result, or with a typed failure that carries the result. */
import { ApplicationFailure } from '@temporalio/common';
import { OUTCOMES, type ErrorType, type Outcome } from '../contract/names.ts';
import type { RunError } from '../contract/run.ts';
import type { TriggerCounts } from '../rules/trigger-policy.ts';

/** How a workflow or one of its parts ended. `error` is null only if it completed, `outcome` only for a defect. */
export interface Conclusion {
  outcome: Outcome | null;
  error: RunError | null;
}

/** The result of a part that ended, which carries why. */
export type Ended<R> = R & Conclusion;

export const COMPLETED: Conclusion = { outcome: 'completed', error: null };

export function conclude(outcome: Outcome | null, type: ErrorType, message: string): Conclusion {
  return { outcome, error: { type, message } };
}

/** Cancelled before a trigger was accepted: nothing was started, unless an earlier trigger was ambiguous. */
export function concludeCancelledBeforeStart(counts: TriggerCounts, message: string): Conclusion {
  return conclude(counts.ambiguous === 0 ? 'not_started' : 'cancelled', 'Cancelled', message);
}

/**
 * Concludes because nothing more is sent. After an ambiguous trigger, the conclusion must not claim that no request had an
 * effect.
 *
 * @param prefix begins the message
 */
export function concludeUnsent({ ambiguous }: TriggerCounts, type: ErrorType, reason: string, prefix = ''): Conclusion {
  if (ambiguous === 0) return conclude('not_started', type, `${prefix}${reason}`);
  return conclude('unknown', 'OutcomeUnknown', `${prefix}an earlier request may have had an effect; ${reason}`);
}

/** Whoever asked for this has to ask for something else, so no retry can help. */
export const usageFailure = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: 'Usage', message, nonRetryable: true });

/** A defect of Belay or of the SDK. Failing the workflow makes it visible and releases its lock. */
export const concludeInternal = (error: unknown): Conclusion => ({ outcome: null, error: internalError(error) });

export const internalError = (error: unknown): RunError => ({
  type: 'Internal',
  message: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
});

/** The worst conclusion gives the run its outcome and the root cause. Among equals, the first one counts. */
export function worst(conclusions: readonly Conclusion[]): Conclusion {
  // A defect has no outcome, and no other conclusion may hide it.
  const rank = ({ outcome }: Conclusion) => (outcome === null ? -1 : OUTCOMES.indexOf(outcome));
  return conclusions.reduce((a, b) => (rank(b) < rank(a) ? b : a), COMPLETED);
}

/** Writes the end of a part, a run or a rollout into its result. The result of a backup has no field for an error. */
export function endWith<R extends { outcome: Outcome | null; endedAt: string | null }>(
  result: R,
  { outcome, error }: Conclusion,
): Ended<R> {
  const endedAt = new Date().toISOString();
  Object.assign(result, { outcome, endedAt }, 'error' in result ? { error } : {});
  return { ...result, error };
}

/** @throws ApplicationFailure if there is an error, so that Temporal shows the workflow as failed */
export function resultOrFailure<R>(result: R, error: RunError | null): R {
  if (error === null) return result;
  throw ApplicationFailure.create({ ...error, nonRetryable: true, details: [result] });
}
