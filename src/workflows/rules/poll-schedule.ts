/** When the reads of a poll loop are due. Pure: times are milliseconds since 1970. */

/** Try k is due at k × interval after the origin. Early reads use up no try. */
export interface PollSchedule {
  originMs: number;
  intervalMs: number;
  /** Due times of the remaining early reads, earliest first. */
  earlyAtMs: readonly number[];
  /** The last multiple of the interval that was read or skipped. */
  lastTick: number;
  /** When to make the try that a rate limit held back; null if there is none. */
  heldTryAtMs: number | null;
}

export interface DuePoll {
  atMs: number;
  isTry: boolean;
}

/**
 * @param earlyMs delays of early reads after the origin; those after the first try are dropped
 * @param jitterMs delays every try
 */
export function createPollSchedule(
  originMs: number,
  intervalMs: number,
  earlyMs: readonly number[] = [],
  jitterMs = 0,
): PollSchedule {
  const earlyAtMs = earlyMs.filter((ms) => ms < intervalMs).map((ms) => originMs + ms);
  return { originMs: originMs + jitterMs, intervalMs, earlyAtMs, lastTick: 0, heldTryAtMs: null };
}

/** @param notBeforeMs the earliest time a Retry-After allows */
export function nextPoll(schedule: PollSchedule, notBeforeMs = 0): DuePoll {
  if (schedule.heldTryAtMs !== null) return { atMs: Math.max(schedule.heldTryAtMs, notBeforeMs), isTry: true };
  const tick = Math.max(schedule.lastTick + 1, Math.ceil((notBeforeMs - schedule.originMs) / schedule.intervalMs));
  const tryAtMs = schedule.originMs + tick * schedule.intervalMs;
  const earlyAtMs = schedule.earlyAtMs.find((ms) => ms >= notBeforeMs && ms < tryAtMs);
  return earlyAtMs === undefined ? { atMs: tryAtMs, isTry: true } : { atMs: earlyAtMs, isTry: false };
}

/**
 * The schedule after a read. It replaces early reads that became due meanwhile. Tries that became due
 * during a slow try or a worker outage are skipped: the next one keeps its place in the interval.
 */
export function afterPoll(schedule: PollSchedule, endedMs: number, wasTry: boolean): PollSchedule {
  const earlyAtMs = schedule.earlyAtMs.filter((ms) => ms > endedMs);
  if (!wasTry) return { ...schedule, earlyAtMs };
  const passed = Math.floor((endedMs - schedule.originMs) / schedule.intervalMs);
  return { ...schedule, earlyAtMs, lastTick: Math.max(schedule.lastTick + 1, passed), heldTryAtMs: null };
}

/** The schedule after a read that a rate limit held back: it is made again at `againMs`, and stays what it was. */
export function afterHeldPoll(schedule: PollSchedule, endedMs: number, wasTry: boolean, againMs: number): PollSchedule {
  if (wasTry) return { ...schedule, heldTryAtMs: againMs };
  return withExtraPoll(afterPoll(schedule, endedMs, false), againMs);
}

/** One more read, which uses up no try. */
export function withExtraPoll(schedule: PollSchedule, atMs: number): PollSchedule {
  return { ...schedule, earlyAtMs: [...schedule.earlyAtMs, atMs].sort((a, b) => a - b) };
}

/** The schedule as if every read up to now had been made. */
export function skipTo(schedule: PollSchedule, nowMs: number): PollSchedule {
  const passed = Math.floor((nowMs - schedule.originMs) / schedule.intervalMs);
  return {
    ...schedule,
    earlyAtMs: schedule.earlyAtMs.filter((ms) => ms > nowMs),
    lastTick: Math.max(schedule.lastTick, passed),
    heldTryAtMs: null,
  };
}
