/**
 * The one place that turns errors of the service into what workflows see: a value for a read, a typed failure for a
 * trigger. The type tells whether the trigger can have had an effect, and only that decides whether to send it again.
 */
import { ApplicationFailure } from '@temporalio/common';
import { HostingApiError } from '../hosting-api/index.ts';
import type { ReadFailure, TriggerFailureDetails, TriggerFailureType, WorkerInfo } from '../contract/activities.ts';
import { isServed } from '../contract/service-identity.ts';
import { isApp, NO_APP_PATHS, type Target } from '../contract/target.ts';
import { plainText } from '../contract/safe-text.ts';

export function toReadFailure(error: unknown): ReadFailure {
  if (!(error instanceof HostingApiError)) return unread('worker', reasonOf(error));
  return {
    ok: false,
    kind: error.kind === 'token' ? 'worker' : error.kind,
    httpStatus: error.httpStatus,
    isJson: error.isJson,
    retryAfterMs: error.retryAfterMs,
    message: plainText(error.message),
    ...(isOfThisWorker(error) ? { ofThisWorker: true } : {}),
  };
}

/** A read that nobody answered. */
export const unread = (kind: 'worker' | 'other_service', message: string): ReadFailure => ({
  ok: false,
  kind,
  httpStatus: null,
  isJson: false,
  retryAfterMs: null,
  message,
});

/**
 * True if the worker that made the request may be the cause: it had no connection, or no token that the service
 * accepts.
 */
export function isOfThisWorker(error: unknown): error is HostingApiError {
  if (!(error instanceof HostingApiError) || error.kind === 'held_back') return false;
  return !error.sent || isTokenRefused(error);
}

export const isTokenRefused = (error: unknown): boolean =>
  error instanceof HostingApiError && (error.httpStatus === 401 || error.httpStatus === 403);

export function toTriggerFailure(error: unknown, scheduledMs: number): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const { httpStatus, retryAfterMs } = error instanceof HostingApiError ? error : NO_ANSWER;
  const type = error instanceof HostingApiError ? triggerFailureType(error) : 'Ambiguous';
  return triggerFailure(type, reasonOf(error), {
    ...{ httpStatus, retryAfterMs },
    scheduledAt: new Date(scheduledMs).toISOString(),
  });
}

const NO_ANSWER: TriggerFailureDetails = { httpStatus: null, retryAfterMs: null };

export function triggerFailure(type: TriggerFailureType, message: string, details = NO_ANSWER): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}

/**
 * Returns why this worker does not serve a request, or null. It then sends nothing, so that one misconfigured worker
 * cannot fail runs.
 */
export function notServed(
  { service, target }: { service: string; target?: Target },
  worker: WorkerInfo,
): string | null {
  if (!isServed(service, worker))
    return `this run is for ${service}, but this worker serves ${worker.service}: correct its BELAY_API_URL, or stop it`;
  return target === undefined || worker.deploysApps === true || !isApp(target) ? null : NO_APP_PATHS;
}

/** Makes Temporal give the activity to another worker. @param type what this worker lacks */
export const leftToOthers = (type: 'NoSuchCheck' | 'NoSuchGate', message: string): ApplicationFailure =>
  ApplicationFailure.create({ type, message });

function triggerFailureType(error: HostingApiError): TriggerFailureType {
  if (error.kind === 'held_back') return 'HeldBack';
  if (!error.sent) return 'NotSent';
  const status = error.httpStatus;
  if (error.kind !== 'http' || status === null) return 'Ambiguous';
  if (error.asksForPause) return 'Throttled';
  if (status === 409 || status === 423) return 'Conflict';
  // With a 408, the service gave up on a request that it may have begun to act on.
  if (status >= 400 && status < 500 && status !== 408) return 'Refused';
  return 'Ambiguous';
}

function reasonOf(error: unknown): string {
  return plainText(error instanceof Error ? error.message : 'an unknown error');
}

/* What activities need to know about their worker: whether it rests. */

/**
 * A worker rests after its own access to the service failed: it takes no activities until the service answers one of
 * its probes.
 */
export interface Rest {
  readonly reason: string | null;
  begin(reason: string): void;
  /** Waits for the first probe of a rest that has just begun. @returns whether the worker may work */
  isOver(): Promise<boolean>;
}

/**
 * Use this for an activity that Temporal gave to the worker just before the rest. Temporal gives it to another worker.
 */
export function leftWhileResting({ reason }: Rest): ApplicationFailure {
  return ApplicationFailure.create({ type: 'Resting', message: restingMessage(reason) });
}

export function restingMessage(reason: string | null): string {
  return `this worker takes no activities: ${reason ?? 'it rests'}`;
}
