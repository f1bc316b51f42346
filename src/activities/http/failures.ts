/**
 * The one place that turns errors of the service into what workflows see: for a read a value, for a trigger a typed
 * failure. A trigger's type says whether it can have had an effect, and nothing else decides on sending it again.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { ReadFailure, TriggerFailureDetails, TriggerFailureType } from '../../contract/run.ts';
import { ServiceError } from '../../hosting-api/index.ts';
import { plainText } from '../../contract/wording/safe-text.ts';

export function toReadFailure(error: unknown): ReadFailure {
  if (!(error instanceof ServiceError)) {
    return { ok: false, kind: 'worker', httpStatus: null, retryAfterMs: null, message: reasonOf(error) };
  }
  return {
    ok: false,
    kind: error.kind === 'token' ? 'worker' : error.kind,
    httpStatus: error.httpStatus,
    retryAfterMs: error.retryAfterMs,
    message: plainText(error.message),
  };
}

export function toTriggerFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof ServiceError)) return triggerFailure('Ambiguous', reasonOf(error));
  const { httpStatus, retryAfterMs } = error;
  return triggerFailure(triggerFailureType(error), plainText(error.message), { httpStatus, retryAfterMs });
}

export function triggerFailure(
  type: TriggerFailureType,
  message: string,
  details: TriggerFailureDetails = { httpStatus: null, retryAfterMs: null },
): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}

/** Whoever serves another service sends nothing: one worker with a wrong configuration must not spoil runs. */
export function otherService(recorded: string, served: string): string {
  return `this run is for ${recorded}, and this worker serves ${served}: correct its BELAY_API_URL, or stop it`;
}

function triggerFailureType(error: ServiceError): TriggerFailureType {
  if (!error.sent) return 'NotSent';
  const status = error.httpStatus;
  if (error.kind !== 'http' || status === null) return 'Ambiguous';
  if (status === 429 || (status === 503 && error.retryAfterMs !== null)) return 'Throttled';
  if (status === 409 || status === 423) return 'Conflict';
  // 408 says that the service gave up on a request it may have begun to act on.
  if (status >= 400 && status < 500 && status !== 408) return 'Refused';
  return 'Ambiguous';
}

function reasonOf(error: unknown): string {
  return plainText(error instanceof Error ? error.message : 'an unknown error');
}
