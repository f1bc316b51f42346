/** Sends the POST of a deployment, and looks for a trace of one in doubt. Reads go on all the time, so that none is missed. */
import { patched } from '@temporalio/workflow';
import type { DeploymentIds, ReadResult, TriggerAnswer } from '../../contract/activities.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import type { PollSchedule } from '../../contract/polling.ts';
import { targetText } from '../../contract/target.ts';
import { TIMING } from '../../contract/timing.ts';
import { isNotDeployed } from '../../rules/never-deployed.ts';
import { answeredMs } from '../../rules/poll-state.ts';
import { createPollSchedule, skipTo } from '../../rules/poll-schedule.ts';
import {
  lastingTrace,
  recordOutage,
  recordRead,
  startReadCoverage,
  whyNotResent,
  type Watched,
} from '../../rules/resend.ts';
import type { TriggerResult } from '../../rules/trigger-policy.ts';
import { NO_OBSERVATIONS, observe, traceOf, type Trace, type VerdictContext } from '../../rules/verdict.ts';
import { triggerOnce } from '../activity-proxies.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { hasRoom } from '../history.ts';
import { subjectOfTarget } from '../metrics.ts';
import { pollUntil } from '../polling/poll-until.ts';
import type { Followed } from './await-verdict.ts';
import type { Operation } from './run-operation.ts';
import { awaitTrigger, type Doubt, NO_ROOM, triggerInput } from './send-until-accepted.ts';

export interface Deployment extends Followed {
  operation: Operation<DeploymentResult>;
  input: DeploySiteInput;
  /** The ids of all answers from before the request. */
  earlierIds: DeploymentIds[];
  /** The ids of all answers. */
  readIds: DeploymentIds[];
}

/** A request, and what reads have shown since it was sent. */
export interface Sent extends Watched {
  readonly context: VerdictContext;
  readonly sentMs: number;
  readonly result: TriggerResult<TriggerAnswer>;
}

/** @returns the trace that this read shows, or null */
function note(sent: Omit<Sent, 'result'>, read: ReadResult, own: boolean): Trace | null {
  const { context } = sent;
  const nowMs = Date.now();
  if (read.ok || (context.baseline === null && isNotDeployed(read)))
    sent.coverage = recordRead(sent.coverage, answeredMs(read, nowMs), nowMs);
  if (!read.ok) return null;
  sent.seen = observe(context, sent.seen, read, { own, nowMs });
  const trace = traceOf(context, sent.seen, read, sent.trace);
  if (trace !== null) {
    const isDoubted = trace.doubt !== null && patched(trace.doubt === 'appeared' ? 'ids-of-before' : 'lasting-doubts');
    const doubt = isDoubted ? trace.doubt : null;
    sent.trace = { ...trace, doubt };
    return doubt === null ? trace : null;
  }
  const before = sent.trace;
  const isTakenBack =
    before?.by === 'changed' &&
    ((before.doubt === null && patched('change-taken-back')) || (before.doubt === 'once' && patched('lasting-doubts')));
  if (isTakenBack) sent.trace = { ...before, doubt: 'taken_back' };
  return null;
}

export async function sendWatched(
  { operation, input, reader }: Deployment,
  context: VerdictContext,
  summary: string,
): Promise<Sent> {
  const sentMs = Date.now();
  const { target, serverId, deploymentId, intervalMs } = input;
  const subject = { target, ...definedFields({ serverId, deploymentId, deadline: input.deadline ?? undefined }) };
  const readAt = new Date(sentMs - operation.lagMs).toISOString();
  const sent = { context, sentMs, seen: NO_OBSERVATIONS, coverage: startReadCoverage(sentMs), trace: null };
  let result: Sent['result'] | undefined;
  const answered = awaitTrigger(
    subjectOfTarget(target),
    triggerOnce.triggerDeployment.executeWithOptions({ summary }, [{ ...triggerInput(input), ...subject, readAt }]),
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
    (answer) => void note(sent, answer, true),
  );
  // Even when cancelled, because the result reports what became of the request.
  return Object.assign(sent, { result: await answered });
}

/**
 * Compares reads with the baseline for the whole settle time, and until another request may be sent, because that must not
 * follow a gap.
 *
 * @returns `accepted` if the request left a trace; the earliest time to send it once more; or why the operation ends
 */
export async function reconcile(
  { operation, input, reader }: Deployment,
  sent: Sent,
  { ambiguities, overMs, notBeforeMs }: Doubt,
): Promise<Conclusion | 'accepted' | number> {
  const { intervalMs, settleMs } = input;
  operation.setPhase('reconcile');
  let trace = lastingTrace(sent);
  if (trace === null) {
    const nowMs = Date.now();
    const endsMs = Math.max(Math.max(nowMs, overMs) + settleMs, notBeforeMs);
    const schedule = beginsAtLastTick(
      skipTo(createPollSchedule(sent.sentMs, intervalMs, { earlyMs: TIMING.poll.earlyReadsMs }), nowMs),
    );
    const polled = await pollUntil<Trace>(
      operation,
      {
        what: 'trace',
        reader,
        schedule,
        tries: Math.ceil((endsMs - schedule.originMs) / intervalMs) - schedule.lastTick,
        acceptsNoDeployment: sent.context.baseline === null,
        afterOutage: () => (sent.coverage = recordOutage(sent.coverage)),
        until: () => !hasRoom(),
      },
      (answer, cause) => note(sent, answer, cause === 'due') ?? undefined,
    );
    const name = `${targetText(input.target)}: it is unknown whether its deployment was started`;
    if (polled.kind === 'cancelled') return conclude('cancelled', 'Cancelled', `cancelled; ${name}`);
    if (polled.kind === 'given_up') return conclude('unknown', polled.reason.type, `${name}: ${polled.reason.message}`);
    if (polled.kind === 'stopped') return conclude('unknown', 'OutcomeUnknown', `${name}: ${NO_ROOM}`);
    trace = lastingTrace(sent);
    if (trace === null) {
      const why = whyNotResent(sent, ambiguities, input, Date.now());
      return why === null ? notBeforeMs : conclude('unknown', 'OutcomeUnknown', `${name}: ${why}`);
    }
  }
  operation.result.acceptedAt = new Date().toISOString();
  operation.result.trigger.reconciledBy = trace.by;
  operation.setPhase('wait');
  return 'accepted';
}

/** The same reads, counted from the last tick that is over: the time that they may take begins there, too. */
function beginsAtLastTick(schedule: PollSchedule): PollSchedule {
  const { originMs, intervalMs, lastTick } = schedule;
  if (lastTick === 0 || !patched('whole-settle-time')) return schedule;
  return { ...schedule, originMs: originMs + lastTick * intervalMs, lastTick: 0 };
}
