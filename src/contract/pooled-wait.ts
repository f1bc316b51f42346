/**
 * A wait that a worker makes for an operation while its status stays in progress, in one activity beside those of many
 * other operations. Stored in histories: add, never rename or remove.
 */
import type { DeploymentIdField, DeploymentIds, FinalWords, ReadAnswer } from './activities.ts';
import type { PollState } from './polling.ts';
import type { Target } from './target.ts';

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
