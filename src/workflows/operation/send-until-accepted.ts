/**
 * The only loop that sends a POST, for both operations. It ends once the service has accepted the request, or once there is a
 * reason not to send it again.
 */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import { FOR_PERMITS, type ForPermits, type TriggerActivityInput } from '../../contract/activities.ts';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { OperationInput } from '../../contract/operation.ts';
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import type { Subject } from '../../contract/sinks.ts';
import { TIMING } from '../../contract/timing.ts';
import { mayBeOutage, serviceState } from '../../rules/outage.ts';
import { createPollSchedule } from '../../rules/poll-schedule.ts';
import {
  afterTrigger,
  countTrigger,
  effectOf,
  isUnsent,
  NO_TRIGGERS,
  resultOfFailure,
  whileCertain,
  type NotAccepted,
  type TriggerCounts,
  type TriggerResult,
  type TriggerStep,
} from '../../rules/trigger-policy.ts';
import { concludeCancelledBeforeStart, conclude, concludeUnsent, type Conclusion } from '../conclusion.ts';
import { hasRoom } from '../history.ts';
import { metrics } from '../metrics.ts';
import { pollUntil, sleepUntil, type PollOptions } from '../polling/poll-until.ts';
import type { Operation } from './run-operation.ts';

export interface Sending {
  /** For the UI: `deploy site a1`. */
  what: string;
  /** Begins messages about the service; empty if they need no more. */
  prefix: string;
  /** Begins the message of a cancellation. */
  cancelledBefore: string;
  busyWaitMs: number;
  /** True if nothing shows a request in doubt but the conflicts of those after it. */
  waitsInDoubt: boolean;
  /** Reads whether the service answers again. */
  probe: Pick<PollOptions, 'what' | 'reader'>;
  late: () => string | null;
  /** What has to be done before each request. @returns why the operation ends; null if the request may be sent */
  prepare(counts: TriggerCounts, busyEndsMs: number): Promise<Conclusion | null>;
  post(summary: string): Promise<TriggerResult<unknown>>;
  /**
   * Finds out what became of a request in doubt.
   *
   * @returns why the operation ends; `accepted`; or the earliest time to send the request once more
   */
  resolveDoubt(doubt: Doubt): Promise<Conclusion | 'accepted' | number>;
}

export interface Doubt {
  ambiguities: number;
  /** Whether the service answered the last request with 409 or 423. */
  isRefused: boolean;
  /** When the last request can no longer be under way. */
  overMs: number;
  /** When the service may be asked again. */
  notBeforeMs: number;
  message: string;
}

/** @returns null once the service has accepted the request, else why the operation ends */
export async function sendUntilAccepted(
  operation: Operation<BackupResult | DeploymentResult>,
  input: OperationInput,
  how: Sending,
): Promise<Conclusion | null> {
  const { parking } = operation;
  const { trigger } = operation.result;
  const { intervalMs, tries } = input;
  const resendMs = tries * intervalMs;
  const busyUntilMs = Date.now() + (input.ifBusy === 'fail' ? 0 : how.busyWaitMs);
  const busyPauseMs = Math.ceil(how.busyWaitMs / HISTORY_BUDGET.maxConflicts);
  const busyEndsMs = () => busyUntilMs + parking.spentMs;
  let counts = NO_TRIGGERS;
  let waitsSinceMs = Date.now();
  for (;;) {
    const parkedMs = parking.spentMs;
    const blocked = await how.prepare(counts, busyEndsMs());
    if (blocked !== null) return blocked;
    if (operation.cancellation.requested) return concludeCancelledBeforeStart(counts, how.cancelledBefore);
    if (!hasRoom()) return concludeUnsent(counts, 'Busy', NO_ROOM, how.prefix);
    // Requests from before an outage say nothing about the service after it.
    if (parking.spentMs > parkedMs) counts = NO_TRIGGERS;
    // The wait for another operation has a budget of its own.
    if (counts.firstMs !== null && counts.ambiguous === 0)
      counts = { ...counts, firstMs: counts.firstMs + Date.now() - waitsSinceMs };
    operation.setPhase('trigger');
    trigger.attempts += 1;
    const sentMs = Date.now();
    const result = await how.post(`${how.what}, request ${trigger.attempts}`);
    if (isUnsent(result)) trigger.attempts -= 1;
    if (result.kind === 'accepted') {
      if (counts.ambiguous > 0) trigger.reconciledBy = 'resent';
      operation.result.acceptedAt = new Date().toISOString();
      operation.setPhase('wait', 'accepted');
      return null;
    }
    operation.setPhase('trigger', result.kind);
    const answeredMs = Date.now();
    counts = countTrigger(counts, result, answeredMs);
    const budget = { intervalMs, resendMs, busyEndsMs: busyEndsMs(), busyPauseMs, waitsInDoubt: how.waitsInDoubt };
    const step = afterTrigger(result, counts, budget, answeredMs);
    if (step.kind === 'end') {
      const end = await awaitService(operation, input, how, step, result, counts);
      if (end !== null) return end;
      counts = NO_TRIGGERS;
      continue;
    }
    let againAtMs = step.kind === 'send' ? step.atMs : step.notBeforeMs;
    if (step.kind === 'reconcile') {
      trigger.ambiguous = true;
      const found = await how.resolveDoubt({
        ambiguities: counts.ambiguous,
        isRefused: result.kind === 'conflict',
        overMs: underWayUntilMs(result, sentMs),
        notBeforeMs: step.notBeforeMs,
        message: result.message,
      });
      if (found === 'accepted') return null;
      if (typeof found !== 'number') return found;
      againAtMs = found;
    }
    operation.setWaiting({ kind: 'request', reason: result.message, nextAt: new Date(againAtMs).toISOString() });
    const slept = await sleepUntil(operation, againAtMs, 'before the request is sent again');
    operation.setWaiting(null);
    if (slept === 'cancelled') return concludeCancelledBeforeStart(counts, `${how.cancelledBefore}: ${result.message}`);
    // After a conflict, the pause is a part of the wait for the other operation.
    waitsSinceMs = result.kind === 'conflict' ? answeredMs : Date.now();
  }
}

export const NO_ROOM = 'the history of the operation is too long to go on: start a new run, with a longer interval';

/**
 * Parks an operation that would end because its request had no effect, if the service may be down. No request is sent
 * until the service answers a read.
 *
 * @returns null once the service answers: the operation then starts again. Else why it ends
 */
async function awaitService(
  operation: Operation,
  { tries, intervalMs }: OperationInput,
  { probe, prefix, late }: Sending,
  step: TriggerStep & { kind: 'end' },
  result: NotAccepted,
  counts: TriggerCounts,
): Promise<Conclusion | null> {
  const end = (message: string) => conclude(step.outcome, step.type, `${prefix}${message}`);
  if (!mayBeOutage(result, counts)) return end(step.message);
  const nowMs = Date.now();
  const notBeforeMs = nowMs + (('retryAfterMs' in result ? result.retryAfterMs : null) ?? 0);
  const used = operation.parking.park({ type: 'OutcomeUnknown', message: step.message }, nowMs, notBeforeMs);
  if (used !== null) return end(used.message);
  const polled = await pollUntil<'answers'>(
    operation,
    { ...probe, tries, schedule: createPollSchedule(nowMs, intervalMs), until: () => late() !== null },
    (answer) => (serviceState(answer) === 'answers' ? 'answers' : undefined),
  );
  if (polled.kind === 'given_up') return end(polled.reason.message);
  if (polled.kind === 'cancelled') return concludeCancelledBeforeStart(counts, `${prefix}cancelled: ${step.message}`);
  const reason = polled.kind === 'stopped' ? late() : null;
  return reason === null ? null : conclude('not_started', 'TooLate', `${prefix}${reason}; ${step.message}`);
}

/**
 * Temporal learns of a request only at the end of the workflow task that sends it, which can take as long as the task may
 * take. The worker that sent it reports when Temporal learned of it.
 */
function underWayUntilMs(result: NotAccepted, sentMs: number): number {
  const { isLost = false, scheduledAt } = result.kind === 'ambiguous' ? result : {};
  const learnedMs =
    scheduledAt === undefined ? sentMs + (isLost ? TIMING.worker.workflowTaskMs : 0) : Date.parse(scheduledAt);
  return learnedMs + TIMING.post.underWayMs;
}

/* One POST: a regular activity with one attempt. */

export function triggerInput(input: OperationInput): TriggerActivityInput {
  const { service, epoch, idempotencyKey } = input;
  const forPermits: ForPermits = Object.fromEntries(FOR_PERMITS.map((name) => [name, input[name]]));
  return {
    service,
    epoch,
    idempotencyKey,
    firstRunId: workflowInfo().firstExecutionRunId,
    ...definedFields(forPermits),
  };
}

/** Call it when the request is scheduled. */
export async function awaitTrigger<A>(subject: Subject, call: Promise<A>): Promise<TriggerResult<A>> {
  const scheduledMs = Date.now();
  const result = await call.then(
    (answer): TriggerResult<A> => ({ kind: 'accepted', answer }),
    (error: unknown) => whileCertain(resultOfError(error), Date.now() - scheduledMs),
  );
  metrics.triggered({ ...subject, effect: effectOf(result), message: 'message' in result ? result.message : null });
  return result;
}

function resultOfError(error: unknown): NotAccepted {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure && cause.timeoutType === TimeoutType.SCHEDULE_TO_START)
    return { kind: 'not_taken', message: 'no worker that can reach the service took the request in time' };
  if (cause instanceof ApplicationFailure) return resultOfFailure(cause.type, cause.message, cause.details?.[0] ?? {});
  const lost = 'the worker was lost before, during or after the request';
  const message = cause instanceof TimeoutFailure ? lost : 'the result of the request is unknown';
  return { kind: 'ambiguous', message, isLost: true };
}
