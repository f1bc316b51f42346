/**
 * Computes what a poll loop knows between two reads, and how a read changes it. Pure: times are milliseconds since
 * 1970.
 */
import type { ReadFailure, ReadResult, DeploymentIds } from '../contract/activities.ts';
import type { PollSchedule, PollState, PooledProgress } from '../contract/polling.ts';
import { HISTORY_BUDGET } from '../contract/history-budget.ts';
import { TIMING } from '../contract/timing.ts';
import { isNotDeployed } from './never-deployed.ts';
import {
  afterHeldRead,
  afterScheduledRead,
  nextScheduledRead,
  skipTo,
  withExtraRead,
  type DueRead,
} from './poll-schedule.ts';
import {
  afterFailedRead,
  givenUp,
  heldBackUntilMs,
  isRefused,
  NO_FAILED_READS,
  wholeTimeEndsMs,
  type GivenUp,
} from './read-failures.ts';
import { definedFields } from '../contract/plain-object.ts';

export interface PollPlan {
  schedule: PollSchedule;
  tries: number;
  /** True if `no deployment yet` is an answer. */
  acceptsNoDeployment?: boolean;
}

export function beginPolling({ schedule, tries }: PollPlan): PollState {
  const wholeEndsMs = wholeTimeEndsMs(schedule.originMs, schedule.intervalMs, tries);
  const { maxGraces: graceLeft } = HISTORY_BUDGET;
  return { schedule, made: 0, failed: NO_FAILED_READS, notBeforeMs: 0, wholeEndsMs, graceLeft };
}

export const nextRead = ({ schedule, notBeforeMs }: PollState): DueRead => nextScheduledRead(schedule, notBeforeMs);

/**
 * Returns when a read was answered, or earlier. Temporal may have been away since, and what the read showed may be
 * outdated.
 */
export const answeredMs = (read: ReadResult, nowMs: number): number => Math.min(read.answeredMs ?? nowMs, nowMs);

interface ReadAt {
  nowMs: number;
  isTry: boolean;
  /** True if a read that was held back waits for the next turn, because the history is long. Default: it is repeated. */
  waitsForTurn?: boolean;
}

/** True if a read without a status says something about the operation. */
export const isAnswer = ({ acceptsNoDeployment }: Pick<PollPlan, 'acceptsNoDeployment'>, read: ReadFailure): boolean =>
  acceptsNoDeployment === true && isNotDeployed(read);

/** @returns the state after an answer that decides nothing, and why the loop ends, if it does */
export function afterRead(
  plan: Pick<PollPlan, 'tries' | 'acceptsNoDeployment'>,
  before: PollState,
  read: ReadResult,
  { nowMs, isTry, waitsForTurn = false }: ReadAt,
): { state: PollState; end: 'exhausted' | GivenUp | null } {
  const againMs = heldBackUntilMs(read, nowMs);
  const { schedule: last } = before;
  const schedule =
    againMs === null || waitsForTurn
      ? afterScheduledRead(last, nowMs, isTry)
      : afterHeldRead(last, nowMs, isTry, againMs);
  if (read.ok || isAnswer(plan, read)) {
    const made = before.made + (isTry ? 1 : 0);
    const state = { ...before, schedule, made, failed: NO_FAILED_READS, notBeforeMs: 0 };
    return { state, end: made >= plan.tries ? 'exhausted' : null };
  }
  const isTokenRefused = isRefused(before.failed, read);
  const isCounted = againMs === null && (isTry || isTokenRefused);
  const asksAgainSoon = isTokenRefused && schedule.intervalMs > TIMING.poll.unauthorizedPauseMs;
  const state = {
    ...before,
    schedule: asksAgainSoon ? withExtraRead(schedule, nowMs + TIMING.poll.unauthorizedPauseMs) : schedule,
    failed: isCounted ? afterFailedRead(before.failed, read, nowMs) : before.failed,
    // A read for a hint may come before the time that an earlier answer asked for.
    notBeforeMs: Math.max(before.notBeforeMs, againMs ?? nowMs + (read.retryAfterMs ?? 0)),
  };
  const { failed, wholeEndsMs } = state;
  return { state, end: givenUp(failed, read, { nowMs, nextAtMs: nextRead(state).atMs, wholeEndsMs }) };
}

/**
 * Continues the loop with the time and the tries that were left. If too little time is left, it adds time for the reads
 * that prove that a site was never deployed.
 *
 * @param parkedMs how long the loop was parked
 */
export function resumeAfterOutage(before: PollState, nowMs: number, parkedMs: number): PollState {
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

/*
 * Decides what a pooled wait does with a read. It keeps reads that decide nothing: the status is in progress, or the
 * read failed and is to be repeated. The first other read belongs to the workflow. Pure: times are milliseconds since
 * 1970.
 */

/** @param ids of the last answer */
export const beginPooled = (state: PollState, lastStatus: string | null, ids?: DeploymentIds): PooledProgress => ({
  state,
  polls: 0,
  lastStatus,
  ...definedFields({ ids }),
  lastReadAt: null,
  isLeftToOthers: false,
});

/** @returns null if the workflow has to decide what the read means */
export function absorb(tries: number, before: PooledProgress, read: ReadResult, at: ReadAt): PooledProgress | null {
  if (read.ok && (read.state !== 'in_progress' || !hasSameIds(read.ids, before.ids))) return null;
  const { state, end } = afterRead({ tries }, before.state, read, at);
  if (end !== null) return null;
  if (!read.ok) return { ...before, state, isLeftToOthers: false };
  const lastReadAt = new Date(at.nowMs).toISOString();
  return { ...before, state, polls: before.polls + 1, lastStatus: read.status, lastReadAt, isLeftToOthers: false };
}

/** Compares the order of the fields, too. If a service changes the order, the workflow decides. */
const hasSameIds = (one: DeploymentIds = {}, other: DeploymentIds = {}): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** True if another worker is to repeat the read before it counts. */
export const isForOthers = (before: PooledProgress, read: ReadResult): boolean =>
  !read.ok && read.ofThisWorker === true && !before.isLeftToOthers;

/**
 * Returns the progress as if every read that was due by now had been answered, for a wait whose worker cannot be asked.
 */
export function assumeAllAnswered({ state, ...before }: PooledProgress, tries: number, nowMs: number): PooledProgress {
  let { polls } = before;
  let [schedule, made] = [state.schedule, state.made];
  for (;;) {
    const due = nextRead({ ...state, schedule });
    if (due.atMs > nowMs || made >= tries) return { ...before, state: { ...state, schedule, made }, polls };
    schedule = afterScheduledRead(schedule, due.atMs, due.isTry);
    polls += 1;
    if (due.isTry) made += 1;
  }
}
