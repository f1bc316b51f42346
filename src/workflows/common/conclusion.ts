/** Concludes a workflow: with its result, or with a typed failure that carries the result. */
import { ApplicationFailure } from '@temporalio/common';
import type { ErrorType, Outcome } from '../../contract/names.ts';
import type { RunError } from '../../contract/run.ts';
import type { Conclusion } from '../rules/worst-outcome.ts';
import type { TriggerCounts } from '../rules/trigger-policy.ts';

export type { Conclusion };

export function conclude(outcome: Outcome | null, type: ErrorType, message: string): Conclusion {
  return { outcome, error: { type, message } };
}

/** Cancelled before a trigger was accepted: nothing was started, unless an earlier trigger was ambiguous. */
export function concludeCancelledBeforeStart(counts: TriggerCounts, message: string): Conclusion {
  return conclude(counts.ambiguous === 0 ? 'not_started' : 'cancelled', 'Cancelled', message);
}

/** A defect of Belay or of the SDK. Failing the workflow makes it visible and releases its lock. */
export function concludeInternal(error: unknown): Conclusion {
  return conclude(null, 'Internal', error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

/** @throws ApplicationFailure if there is an error, so that Temporal shows the workflow as failed */
export function resultOrFailure<R>(result: R, error: RunError | null): R {
  if (error === null) return result;
  throw ApplicationFailure.create({ ...error, nonRetryable: true, details: [result] });
}
