/** Sends one POST, as a regular activity with one attempt and never as a local one, and classifies its result. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import type { TriggerActivityInput, TriggerFailureDetails, TriggerAnswer } from '../../contract/activities.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { Subject } from '../../contract/sinks.ts';
import { metrics, subjectOfTarget } from '../metrics.ts';
import {
  effectOf,
  isWithoutEffect,
  whileCertain,
  type TriggerResult,
  answeredMs,
  recordRead,
  startReadCoverage,
  type ReadCoverage,
} from '../../rules/trigger-policy.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import type { Deployment } from './await-verdict.ts';
import type { Operation } from './run-operation.ts';
import { createPollSchedule } from '../../rules/poll-schedule.ts';
import {
  observe,
  NO_OBSERVATIONS,
  traceOf,
  type VerdictContext,
  type Observations,
  type StatusReading,
  type Trace,
} from '../../rules/verdict.ts';
import { noteProgress } from '../polling/poller.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { isNotDeployed } from '../../rules/never-deployed.ts';
import { TIMING } from '../../contract/timing.ts';
import { triggerOnce } from '../activity-proxies.ts';

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
  metrics.triggered({ ...subject, effect: effectOf(result), message: 'message' in result ? result.message : null });
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

/* Sends the POST of a deployment and keeps reading until it is answered, so that no trace is missed. */

export interface Sent {
  context: VerdictContext;
  result: TriggerResult<TriggerAnswer>;
  sentMs: number;
  seen: Observations;
  coverage: ReadCoverage;
  /** The last one. */
  trace: Trace | null;
}

export async function sendWatched(
  { operation, input, reader }: Deployment,
  context: VerdictContext,
  summary: string,
  sentMs: number,
): Promise<Sent> {
  const { target, intervalMs } = input;
  const sent: Omit<Sent, 'result'> = {
    context,
    sentMs,
    seen: NO_OBSERVATIONS,
    coverage: startReadCoverage(sentMs),
    trace: null,
  };
  let result: Sent['result'] | undefined;
  const answered = awaitTrigger(
    subjectOfTarget(target),
    triggerOnce.triggerDeployment.executeWithOptions({ summary }, [
      { ...triggerInput(input), ...placeOf(input), readAt: new Date(sentMs - operation.lagMs).toISOString() },
    ]),
  ).then((it) => (result = it));
  await pollUntil(
    operation,
    {
      what: 'trace',
      reader,
      schedule: createPollSchedule(sentMs, intervalMs, { earlyMs: TIMING.poll.earlyReadsMs }),
      tries: Math.ceil(TIMING.post.underWayMs / intervalMs),
      until: () => result !== undefined,
      parks: false,
    },
    (answer) => {
      if (answer.ok) watch(operation, sent, answer);
      else if (context.baseline === null && isNotDeployed(answer))
        sent.coverage = recordRead(sent.coverage, answeredMs(answer, Date.now()), Date.now());
      return undefined;
    },
  );
  // Even when cancelled, because the result reports what became of the request.
  return { ...sent, result: await answered };
}

function watch({ result }: Operation<DeploymentResult>, sent: Omit<Sent, 'result'>, reading: StatusReading): void {
  const { context } = sent;
  const nowMs = Date.now();
  sent.seen = observe(context, sent.seen, reading, { own: true, nowMs });
  sent.coverage = recordRead(sent.coverage, answeredMs(reading, nowMs), nowMs);
  sent.trace = traceOf(context, sent.seen, reading) ?? sent.trace;
  noteProgress(result, reading);
}

const placeOf = ({ target, serverId, deploymentId }: DeploySiteInput) => ({
  target,
  ...definedFields({ serverId, deploymentId }),
});
