/** How a workflow of ours ends: with its result, or failed by a typed failure that carries the result. */
import { ApplicationFailure } from '@temporalio/common';
import type { ErrorType, Outcome, RunError } from '../../contract/run.ts';
import type { End } from '../rules/worst-outcome.ts';
import type { Ends } from '../rules/trigger-policy.ts';

export type { End };

export function ended(outcome: Outcome | null, type: ErrorType, message: string): End {
  return { outcome, error: { type, message } };
}

/** Cancelled while nothing was accepted: nothing was started, unless an ambiguous trigger leaves that open. */
export function cancelledEarly(ends: Ends, message: string): End {
  return ended(ends.ambiguous === 0 ? 'not_started' : 'cancelled', 'Cancelled', message);
}

/** A defect of ours, or of the SDK: it fails the workflow, so that it is seen and holds no lock. */
export function defect(error: unknown): End {
  return ended(null, 'Internal', error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

/** @throws ApplicationFailure where there is an error: Temporal then shows the workflow as failed */
export function resultOrFailure<R>(result: R, error: RunError | null): R {
  if (error === null) return result;
  throw ApplicationFailure.create({ ...error, nonRetryable: true, details: [result] });
}
