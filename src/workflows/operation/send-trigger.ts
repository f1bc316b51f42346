/** Sends one POST, as a regular activity with one attempt and never as a local one, and classifies its result. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import type { TriggerActivityInput, TriggerFailureDetails } from '../../contract/activities.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { Subject } from '../../contract/sinks.ts';
import { report } from '../metrics.ts';
import { effectOf, isWithoutEffect, whileCertain, type TriggerResult } from '../../rules/trigger-policy.ts';

/** Input of every POST of an operation. */
export function triggerInput({
  service,
  epoch,
  idempotencyKey,
  fleet,
  letOff,
  approved,
}: Pick<TriggerActivityInput, 'service' | 'epoch' | 'idempotencyKey' | 'fleet' | 'letOff' | 'approved'>) {
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  return { service, epoch, idempotencyKey, firstRunId, ...definedFields({ fleet, letOff, approved }) };
}

/** Call it when the request is scheduled. */
export async function awaitTrigger<A>(subject: Subject, call: Promise<A>): Promise<TriggerResult<A>> {
  const scheduledMs = Date.now();
  const result = await call.then(
    (answer): TriggerResult<A> => ({ kind: 'accepted', answer }),
    (error: unknown) => {
      const failed = classifyTriggerError(error);
      return isWithoutEffect(failed) ? whileCertain(failed, Date.now() - scheduledMs) : failed;
    },
  );
  report.triggered({ ...subject, effect: effectOf(result), message: 'message' in result ? result.message : null });
  return result;
}

function classifyTriggerError(error: unknown): Exclude<TriggerResult<never>, { kind: 'accepted' }> {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure && cause.timeoutType === TimeoutType.SCHEDULE_TO_START) {
    return { kind: 'not_taken', message: 'no worker that can reach the service took the request in time' };
  }
  if (!(cause instanceof ApplicationFailure)) {
    const lost =
      cause instanceof TimeoutFailure
        ? 'the worker was lost before, during or after the request'
        : 'the result of the request is unknown';
    return { kind: 'ambiguous', message: lost };
  }
  const { retryAfterMs = null, httpStatus = null } = (cause.details?.[0] ?? {}) as Partial<TriggerFailureDetails>;
  const { message } = cause;
  switch (cause.type) {
    case 'Resting':
      return { kind: 'not_taken', message };
    case 'Frozen':
      return { kind: 'frozen', message };
    case 'NotApproved':
      return { kind: 'unapproved', type: 'Refused', message };
    case 'ApprovalExpired':
      return { kind: 'unapproved', type: 'ApprovalExpired', message };
    case 'Stale':
      return { kind: 'stale', message };
    case 'HeldBack':
      return { kind: 'held_back', message, retryAfterMs };
    case 'NotSent':
    case 'NotReached':
    case 'Throttled':
      return { kind: 'no_effect', message, retryAfterMs };
    case 'Conflict':
      return { kind: 'conflict', message, retryAfterMs };
    case 'Reset':
    case 'Restored':
      return { kind: 'reset', message };
    case 'Refused':
      return { kind: httpStatus === 401 || httpStatus === 403 ? 'unauthorized' : 'refused', message };
    default:
      return { kind: 'ambiguous', message };
  }
}
