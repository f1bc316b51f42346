/**
 * What a poll loop knows between two reads. A pooled wait carries it to a worker and back. Stored in histories: add, never
 * rename or remove. Times are milliseconds since 1970, as the rules compute with them.
 */

/** Try k is due at k × interval after the origin. Early reads use up no try. */
export interface PollSchedule {
  originMs: number;
  intervalMs: number;
  /** Due times of the remaining early reads, earliest first. */
  earlyAtMs: readonly number[];
  /** The last try that was made or skipped. */
  lastTick: number;
  /** When to make the try that a rate limit held back; null if there is none. */
  heldTryAtMs: number | null;
}

export interface FailedReads {
  inARow: number;
  /** When the first 401 or 403 of this row came. Reads go on for a while, so that a rotated token can arrive. */
  unauthorizedSinceMs: number | null;
}

export interface PollState {
  schedule: PollSchedule;
  /** The tries that were answered. */
  made: number;
  failed: FailedReads;
  /** What a Retry-After allows. */
  notBeforeMs: number;
  /** Afterwards, a failed read is not repeated. */
  wholeEndsMs: number;
  /** How many more outages may end with time for some reads, however little was left before. */
  graceLeft: number;
}
