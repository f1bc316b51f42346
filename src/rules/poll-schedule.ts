/** Decides when the reads of a poll loop are due. Pure: times are milliseconds since 1970. */
import type { PollSchedule } from '../contract/polling.ts';

export interface DueRead {
  atMs: number;
  isTry: boolean;
}

export interface ScheduleOptions {
  /** The delays of early reads after the origin. Early reads that would come after the first try are dropped. */
  earlyMs?: readonly number[];
  jitterMs?: number;
}

export function createPollSchedule(
  originMs: number,
  intervalMs: number,
  { earlyMs = [], jitterMs = 0 }: ScheduleOptions = {},
): PollSchedule {
  const earlyAtMs = earlyMs.filter((ms) => ms < intervalMs).map((ms) => originMs + ms);
  return { originMs: originMs + jitterMs, intervalMs, earlyAtMs, lastTick: 0, heldTryAtMs: null };
}

/** @param notBeforeMs the earliest time that a Retry-After allows */
export function nextScheduledRead(schedule: PollSchedule, notBeforeMs = 0): DueRead {
  if (schedule.heldTryAtMs !== null) return { atMs: Math.max(schedule.heldTryAtMs, notBeforeMs), isTry: true };
  const tryAtMs = tickAtMs(schedule, Math.max(schedule.lastTick + 1, firstTickFrom(schedule, notBeforeMs)));
  const earlyAtMs = schedule.earlyAtMs.find((ms) => ms >= notBeforeMs && ms < tryAtMs);
  return earlyAtMs === undefined ? { atMs: tryAtMs, isTry: true } : { atMs: earlyAtMs, isTry: false };
}

/**
 * Returns the schedule after a read. The read replaces early reads that became due meanwhile. Tries that became due
 * during a slow try or a worker outage are skipped: the next try keeps its place in the interval.
 */
export function afterScheduledRead(schedule: PollSchedule, endedMs: number, wasTry: boolean): PollSchedule {
  const earlyAtMs = schedule.earlyAtMs.filter((ms) => ms > endedMs);
  if (!wasTry) return { ...schedule, earlyAtMs };
  const lastTick = Math.max(schedule.lastTick + 1, ticksUntil(schedule, endedMs));
  return { ...schedule, earlyAtMs, lastTick, heldTryAtMs: null };
}

/**
 * Returns the schedule after a read that a rate limit held back. The read is repeated at `againMs`, and a try stays a
 * try.
 */
export function afterHeldRead(schedule: PollSchedule, endedMs: number, wasTry: boolean, againMs: number): PollSchedule {
  if (wasTry) return { ...schedule, heldTryAtMs: againMs };
  return withExtraRead(afterScheduledRead(schedule, endedMs, false), againMs);
}

export function withExtraRead(schedule: PollSchedule, atMs: number): PollSchedule {
  return { ...schedule, earlyAtMs: [...schedule.earlyAtMs, atMs].sort((a, b) => a - b) };
}

/** Returns the schedule as if every read up to now had been made. */
export function skipTo(schedule: PollSchedule, nowMs: number): PollSchedule {
  return {
    ...schedule,
    earlyAtMs: schedule.earlyAtMs.filter((ms) => ms > nowMs),
    lastTick: Math.max(schedule.lastTick, ticksUntil(schedule, nowMs)),
    heldTryAtMs: null,
  };
}

const tickAtMs = ({ originMs, intervalMs }: PollSchedule, tick: number): number => originMs + tick * intervalMs;

const ticksUntil = ({ originMs, intervalMs }: PollSchedule, ms: number): number =>
  Math.floor((ms - originMs) / intervalMs);

/** Finds the first try that is due at this time or later. */
const firstTickFrom = ({ originMs, intervalMs }: PollSchedule, ms: number): number =>
  Math.ceil((ms - originMs) / intervalMs);

/** The largest share of an interval by which tries are delayed. */
const MAX_SHARE = 1 / 5;

/**
 * Draws the share of the interval by which a run delays every try, but no early read. Runs of rollouts and schedules
 * delay their tries; a single run does not.
 *
 * @param random from 0 up to 1
 */
export function drawJitter(startsWithOthers: boolean, random: () => number): number {
  return startsWithOthers ? random() * MAX_SHARE : 0;
}

export const jitterMs = ({ intervalMs, jitter = 0 }: { intervalMs: number; jitter?: number }): number =>
  Math.floor(jitter * intervalMs);
