/**
 * What a poll loop knows between two reads. A pooled wait carries it to a worker and back. Histories store these
 * shapes: add, never rename or remove. Times are milliseconds since 1970, as the rules compute with them.
 */
import type { DeploymentIdField, DeploymentIds, FinalWords, ReadAnswer } from './activities.ts';
import type { Target } from './target.ts';

/** Try k is due at k × interval after the origin. Early reads use up no try. */
export interface PollSchedule {
  originMs: number;
  intervalMs: number;
  /** Due times of the remaining early reads, earliest first. */
  earlyAtMs: readonly number[];
  /** The last try that was made or skipped. */
  lastTick: number;
  /** When to make the try that a rate limit held back. Null if there is none. */
  heldTryAtMs: number | null;
}

export interface FailedReads {
  inARow: number;
  /** When the first 401 or 403 of this row came. Reads continue for a while, so that a rotated token can arrive. */
  unauthorizedSinceMs: number | null;
}

export interface PollState {
  schedule: PollSchedule;
  /** How many tries were answered. */
  made: number;
  failed: FailedReads;
  /** The earliest time that a Retry-After allows. */
  notBeforeMs: number;
  /** When the whole time of the wait ends. After it, a failed read is not repeated. */
  wholeEndsMs: number;
  /** How many more outages may add time, if too little time is left for the reads that have to follow. */
  graceLeft: number;
}

/*
 * A wait that a worker makes for an operation whose status stays in progress, in one activity beside those of many
 * other operations. Histories store these shapes: add, never rename or remove.
 */

type Subject = { backupId: string } | { target: Target };

export interface PooledWait extends DeploymentIdField {
  service: string;
  subject: Subject;
  /** What the status words mean for the run. */
  words: FinalWords;
  tries: number;
  /** The progress at which the wait begins. */
  progress: PooledProgress;
}

/** The details of the heartbeats. */
export interface PooledProgress {
  state: PollState;
  /** How many reads were answered in the pool. */
  polls: number;
  lastStatus: string | null;
  /** The ids of the last answer. The workflow decides about an answer with other ids. */
  ids?: DeploymentIds;
  /** When the pool last read a status. Null before its first read. */
  lastReadAt: string | null;
  /** True if the last read failed because of its worker. Another worker is to repeat the read before it counts. */
  isLeftToOthers: boolean;
}

/**
 * The first read that is not simply in progress. The progress does not include it, because the workflow decides what it
 * means.
 */
export interface PooledWaitEnd {
  progress: PooledProgress;
  read: ReadAnswer;
  /** True if the read was due as a try. */
  isTry: boolean;
}

/* Hints, which ask for a read now. */

/** What an event claims about an operation that is waited for. It counts only if no read contradicts it. */
export type Claim =
  | { kind: 'backup.failed'; backupId: string; event: string }
  | { kind: 'resource.deleted'; siteId: string; event: string };

/** Payload of the signal `hint`. Without a claim, the signal only means: read now. */
export interface Hint {
  /** Every identity of the service that it is about. Absent in older messages. */
  services?: string[];
  claim: Claim | null;
}
