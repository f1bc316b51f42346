/** What a workflow waits for, in a sentence and as data: the answer to the query `why`. */
import type { AskedApproval } from '../features/approvals/shapes.ts';
import type { FrozenBy } from '../features/freezes/shapes.ts';
import type { WaitingForGates } from '../features/gates/shapes.ts';

/** What a workflow waits for right now. */
export type Waiting =
  /** More runs begin than the workers can carry at once. */
  | { kind: 'admission'; since: string }
  | {
      kind: 'lock';
      lockId: string;
      since: string;
      /** The run that holds the lock, as far as known. */
      lockedBy?: string | null;
    }
  | WaitingForApproval
  | WaitingForCheck
  | WaitingForThaw
  | WaitingForRead;

/** People have to approve what it does. The query `approval` returns what that is. */
export interface WaitingForApproval {
  kind: 'approval';
  workflowId: string;
  /** The hash of the plan. */
  plan: string;
  asked: AskedApproval[];
  since: string;
  until: string;
}

/** A freeze or window holds it back. */
export interface WaitingForThaw {
  kind: 'freeze';
  by: FrozenBy[];
  since: string;
  /** When it looks again, also if nothing is known to end. */
  nextLookAt: string;
}

export interface WaitingForRead {
  kind: 'backup' | 'deployment' | 'baseline' | 'trace';
  try: number;
  tries: number;
  lastStatus: string | null;
  lastReadAt: string | null;
  nextReadAt: string;
  /** Only if the last read failed, and the operation is not parked. */
  failing?: FailingReads;
  /** A worker makes this read and those after it. */
  pooled?: { everyMs: number };
  /** Only while the operation is parked, because the service does not answer. */
  parked?: Parked;
}

/** Reads in a row that failed. */
export interface FailingReads {
  reads: number;
  /** What went wrong last. */
  reason: string;
}

/** The service has reported `completed`. */
export interface WaitingForCheck {
  kind: 'check';
  siteId: string;
  /** In belay.yaml. */
  check: string;
  try: number;
  tries: number;
  goodInARow: number;
  /** How many it needs. */
  inARow: number;
  /** What the last read showed; null before the first one. */
  last: string | null;
  nextReadAt: string;
}

export interface Parked {
  since: string;
  /** When its outage budget is used up. */
  until: string;
  /** What went wrong last. */
  reason: string;
}

/** What a rollout waits for right now. */
export type RolloutWaiting =
  | { kind: 'decision'; by: string; reason: string; since: string }
  | WaitingForApproval
  | WaitingForThaw
  | WaitingForGates
  | {
      kind: 'servers';
      running: string[];
      pending: number;
      maxAtOnce: number;
      /** Why no more servers start. */
      stopped?: { by: string; reason: string };
    };

/** The answer of every run, operation and rollout to the query `why`. */
export interface Explanation {
  sentence: string;
  /** Null if it waits for nothing. */
  waiting: Waiting | RolloutWaiting | null;
}
