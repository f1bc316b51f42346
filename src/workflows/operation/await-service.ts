/**
 * Parks an operation whose request certainly had no effect and is not sent again, because the service may be down. No
 * request is sent until the service answers a read.
 */
import { concludeCancelledBeforeStart, conclude, type Conclusion } from '../common/conclusion.ts';
import { pollUntil, type PollOptions } from '../polling/poll-until.ts';
import type { Poller } from '../polling/poller.ts';
import { mayBeOutage, serviceState } from '../../rules/outage.ts';
import { createPollSchedule } from '../../rules/polling/poll-schedule.ts';
import type { TriggerCounts, TriggerResult, TriggerStep } from '../../rules/trigger-policy.ts';

/** The end that the operation has without an outage budget. */
export interface TriggerEnd {
  step: TriggerStep & { kind: 'end' };
  result: TriggerResult<unknown>;
  counts: TriggerCounts;
  /** For messages: what the operation acts on. */
  prefix: string;
}

export interface ServiceWait extends Pick<PollOptions, 'what' | 'reader' | 'tries'> {
  intervalMs: number;
  /** Why it is too late for the request; null if it is not. */
  late: () => string | null;
}

/** @returns null once the service answers: the operation then starts again. Else why it ends */
export async function awaitService(
  poller: Poller,
  { what, reader, tries, intervalMs, late }: ServiceWait,
  { step, result, counts, prefix }: TriggerEnd,
): Promise<Conclusion | null> {
  const end = (message: string) => conclude(step.outcome, step.type, `${prefix}${message}`);
  if (!mayBeOutage(result, counts)) return end(step.message);
  const nowMs = Date.now();
  const retryAfterMs = 'retryAfterMs' in result ? result.retryAfterMs : null;
  const used = poller.parking.park(
    { type: 'OutcomeUnknown', message: step.message },
    nowMs,
    nowMs + (retryAfterMs ?? 0),
  );
  if (used !== null) return end(used.message);
  const polled = await pollUntil<'answers'>(
    poller,
    { what, reader, schedule: createPollSchedule(nowMs, intervalMs), tries, until: () => late() !== null },
    (answer) => (serviceState(answer) === 'answers' ? 'answers' : undefined),
  );
  if (polled.kind === 'given_up') return end(polled.reason.message);
  if (polled.kind === 'cancelled') return concludeCancelledBeforeStart(counts, `${prefix}cancelled: ${step.message}`);
  const reason = polled.kind === 'stopped' ? late() : null;
  return reason === null ? null : conclude('not_started', 'TooLate', `${prefix}${reason}; ${step.message}`);
}
