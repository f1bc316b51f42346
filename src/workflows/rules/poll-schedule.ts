/** When the reads of a wait are due. Pure: times are milliseconds since 1970. */

/** Try k is due at k × interval after the origin. Early reads use up no try. */
export interface Beat {
  originMs: number;
  intervalMs: number;
  /** When the early reads that are left are due, earliest first. */
  earlyAtMs: readonly number[];
  /** The last multiple of the interval that was read or skipped. */
  lastSlot: number;
}

export interface DueRead {
  atMs: number;
  isTry: boolean;
}

/** @param earlyMs how long after the origin to read early, where that is before the first try */
export function startBeat(originMs: number, intervalMs: number, earlyMs: readonly number[] = []): Beat {
  const earlyAtMs = earlyMs.filter((ms) => ms < intervalMs).map((ms) => originMs + ms);
  return { originMs, intervalMs, earlyAtMs, lastSlot: 0 };
}

/** @param notBeforeMs what a Retry-After allows at the earliest */
export function nextRead(beat: Beat, notBeforeMs = 0): DueRead {
  const slot = Math.max(beat.lastSlot + 1, Math.ceil((notBeforeMs - beat.originMs) / beat.intervalMs));
  const tryAtMs = beat.originMs + slot * beat.intervalMs;
  const earlyAtMs = beat.earlyAtMs.find((ms) => ms >= notBeforeMs && ms < tryAtMs);
  return earlyAtMs === undefined ? { atMs: tryAtMs, isTry: true } : { atMs: earlyAtMs, isTry: false };
}

/**
 * The beat after a read. Early reads it ran over are made by it. Tries that a slow try or a worker that was away ran
 * over are skipped: the next one keeps to the grid instead of following at once.
 */
export function afterRead(beat: Beat, endedMs: number, wasTry: boolean): Beat {
  const earlyAtMs = beat.earlyAtMs.filter((ms) => ms > endedMs);
  if (!wasTry) return { ...beat, earlyAtMs };
  const passed = Math.floor((endedMs - beat.originMs) / beat.intervalMs);
  return { ...beat, earlyAtMs, lastSlot: Math.max(beat.lastSlot + 1, passed) };
}

/** One more read, which uses up no try. */
export function alsoAt(beat: Beat, atMs: number): Beat {
  return { ...beat, earlyAtMs: [...beat.earlyAtMs, atMs].sort((a, b) => a - b) };
}

/** The beat as if everything up to now had been read. */
export function skipTo(beat: Beat, nowMs: number): Beat {
  const passed = Math.floor((nowMs - beat.originMs) / beat.intervalMs);
  return {
    ...beat,
    earlyAtMs: beat.earlyAtMs.filter((ms) => ms > nowMs),
    lastSlot: Math.max(beat.lastSlot, passed),
  };
}
