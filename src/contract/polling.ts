/**
 * What a poll loop knows between two reads. A pooled wait carries it to a worker and back. Stored in histories: add, never
 * rename or remove. Times are milliseconds since 1970, as the rules compute with them.
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

/*
 * A wait that a worker makes for an operation while its status stays in progress, in one activity beside those of many
 * other operations. Stored in histories: add, never rename or remove.
 */

/** What is read. */
type Subject = { backupId: string } | { target: Target };

export interface PooledWait extends DeploymentIdField {
  service: string;
  subject: Subject;
  /** What the status words mean for the run. */
  words: FinalWords;
  tries: number;
  /** Where the wait begins. */
  progress: PooledProgress;
}

/** The details of its heartbeats. */
export interface PooledProgress {
  state: PollState;
  /** The reads that were answered in the pool. */
  polls: number;
  lastStatus: string | null;
  /** Those of the last answer. One with others is the workflow's to decide. */
  ids?: DeploymentIds;
  /** Of a read in the pool; null before the first one. */
  lastReadAt: string | null;
  /** The last read failed because of its worker, so another worker is to make it before it counts. */
  isLeftToOthers: boolean;
}

/** The first read that is not simply in progress. It is not part of the progress: the workflow decides what it means. */
export interface PooledWaitEnd {
  progress: PooledProgress;
  read: ReadAnswer;
  /** Whether it was due as a try. */
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
