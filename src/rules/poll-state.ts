/** What a poll loop knows between two reads, and what a read changes. Pure: times are milliseconds since 1970. */
import type { ReadFailure, ReadResult } from '../contract/activities.ts';
import type { PollSchedule, PollState } from '../contract/polling.ts';
import { HISTORY_BUDGET } from '../contract/history-budget.ts';
import { TIMING } from '../contract/timing.ts';
import { isNotDeployed } from './never-deployed.ts';
import { afterHeldPoll, afterPoll, nextPoll, skipTo, withExtraPoll, type DuePoll } from './poll-schedule.ts';
import {
  afterFailedRead,
  givenUp,
  heldBackUntilMs,
  isUnauthorized,
  NO_FAILED_READS,
  wholeTimeEndsMs,
  type GivenUp,
} from './read-failures.ts';

/** What a loop is to do. */
export interface PollPlan {
  schedule: PollSchedule;
  tries: number;
  /** `no deployment yet` is an answer. */
  notFoundAnswers?: boolean;
}

export function beginPolling({ schedule, tries }: PollPlan): PollState {
  const wholeEndsMs = wholeTimeEndsMs(schedule.originMs, schedule.intervalMs, tries);
  const { maxGraces: graceLeft } = HISTORY_BUDGET;
  return { schedule, made: 0, failed: NO_FAILED_READS, notBeforeMs: 0, wholeEndsMs, graceLeft };
}

export const nextRead = ({ schedule, notBeforeMs }: PollState): DuePoll => nextPoll(schedule, notBeforeMs);

export interface ReadAt {
  /** When the answer came. */
  nowMs: number;
  /** Whether the read was due as a try. */
  isTry: boolean;
}

/** Whether a read without a status says something of the operation. */
export const answers = ({ notFoundAnswers }: Pick<PollPlan, 'notFoundAnswers'>, read: ReadFailure): boolean =>
  notFoundAnswers === true && isNotDeployed(read);

/** @returns the state after an answer that decides nothing, and why the loop ends, if it does */
export function afterRead(
  plan: Pick<PollPlan, 'tries' | 'notFoundAnswers'>,
  before: PollState,
  read: ReadResult,
  { nowMs, isTry }: ReadAt,
): { state: PollState; end: 'exhausted' | GivenUp | null } {
  const againMs = heldBackUntilMs(read, nowMs);
  const { schedule: last } = before;
  const schedule = againMs === null ? afterPoll(last, nowMs, isTry) : afterHeldPoll(last, nowMs, isTry, againMs);
  if (read.ok || answers(plan, read)) {
    const made = before.made + (isTry ? 1 : 0);
    const state = { ...before, schedule, made, failed: NO_FAILED_READS, notBeforeMs: 0 };
    return { state, end: made >= plan.tries ? 'exhausted' : null };
  }
  const counts = againMs === null && (isTry || isUnauthorized(read));
  const asksAgainSoon = isUnauthorized(read) && schedule.intervalMs > TIMING.poll.unauthorizedPauseMs;
  const state = {
    ...before,
    schedule: asksAgainSoon ? withExtraPoll(schedule, nowMs + TIMING.poll.unauthorizedPauseMs) : schedule,
    failed: counts ? afterFailedRead(before.failed, read, nowMs) : before.failed,
    notBeforeMs: againMs ?? nowMs + (read.retryAfterMs ?? 0),
  };
  const { failed, wholeEndsMs } = state;
  return { state, end: givenUp(failed, read, { nowMs, nextAtMs: nextRead(state).atMs, wholeEndsMs }) };
}

/**
 * The loop goes on with the time and the tries that it had left. If the time ran out before it parked, it gets time for the
 * reads that prove that a site was never deployed. @param parkedMs how long it was parked
 */
export function afterOutage(before: PollState, nowMs: number, parkedMs: number): PollState {
  const schedule = skipTo(before.schedule, nowMs);
  const endsMs = before.wholeEndsMs + parkedMs;
  const graceEndsMs = nowMs + HISTORY_BUDGET.readsPerGrace * schedule.intervalMs;
  const isGranted = endsMs < graceEndsMs && before.graceLeft > 0;
  return {
    ...before,
    schedule,
    failed: NO_FAILED_READS,
    wholeEndsMs: isGranted ? graceEndsMs : endsMs,
    graceLeft: before.graceLeft - (isGranted ? 1 : 0),
  };
}
