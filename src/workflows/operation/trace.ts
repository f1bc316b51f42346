/** Sends the POST of a deployment, and looks for a trace of one in doubt. Reads go on all the time, so that none is missed. */
import type { ReadResult, TriggerAnswer } from '../../contract/activities.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import type { PollSchedule } from '../../contract/polling.ts';
import { targetText } from '../../contract/target.ts';
import { TIMING } from '../../contract/timing.ts';
import { createPollSchedule, skipTo } from '../../rules/poll-schedule.ts';
import {
  lastingTrace,
  recordOutage,
  startReadCoverage,
  watchRead,
  whyNotResent,
  type Watched,
} from '../../rules/resend.ts';
import type { TriggerResult } from '../../rules/trigger-policy.ts';
import { NO_OBSERVATIONS, type Trace, type VerdictContext } from '../../rules/verdict.ts';
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
}

/** A request, and what reads have shown since it was sent. */
export interface Sent extends Watched {
  readonly context: VerdictContext;
  readonly sentMs: number;
  readonly result: TriggerResult<TriggerAnswer>;
}

/** Adds what a read has shown. */
const note = <S extends Omit<Sent, 'result'>>(sent: S, read: ReadResult, own: boolean): S =>
  Object.assign(sent, watchRead(sent.context, sent, read, { own, nowMs: Date.now() }));

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
  { overMs, notBeforeMs, ...doubt }: Doubt,
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
      (answer, cause) => lastingTrace(note(sent, answer, cause === 'due')) ?? undefined,
    );
    const name = `${targetText(input.target)}: it is unknown whether its deployment was started`;
    if (polled.kind === 'cancelled') return conclude('cancelled', 'Cancelled', `cancelled; ${name}`);
    if (polled.kind === 'given_up') return conclude('unknown', polled.reason.type, `${name}: ${polled.reason.message}`);
    if (polled.kind === 'stopped') return conclude('unknown', 'OutcomeUnknown', `${name}: ${NO_ROOM}`);
    trace = lastingTrace(sent);
    if (trace === null) {
      const why = whyNotResent(sent, doubt, input, Date.now());
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
  return { ...schedule, originMs: originMs + lastTick * intervalMs, lastTick: 0 };
}
