/** What a workflow waits for, as a sentence and as data: the answer to the query `why`. */
import type { AskedApproval } from '../features/approvals/shapes.ts';
import type { FrozenBy } from '../features/freezes/shapes.ts';
import type { WaitingForGates } from '../features/gates/shapes.ts';

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
  | WaitingToSend
  | WaitingForApproval
  | WaitingForCheck
  | WaitingForThaw
  | WaitingForRead;

/** People have to approve the plan. The query `approval` returns it. */
export interface WaitingForApproval {
  kind: 'approval';
  workflowId: string;
  /** The hash of the plan. */
  plan: string;
  asked: AskedApproval[];
  since: string;
  until: string;
}

/** A freeze or window holds the run or rollout back. */
export interface WaitingForThaw {
  kind: 'freeze';
  /** Empty from the end of the last freeze until it looks again, which not all that were frozen do at once. */
  by: FrozenBy[];
  since: string;
  /** When it looks again, even if no end is known. */
  nextLookAt: string;
}

/** A request was not accepted, and is sent again. */
export interface WaitingToSend {
  kind: 'request';
  /** How the last request ended. */
  reason: string;
  /** When it is sent again, at the earliest. */
  nextAt: string;
}

export interface WaitingForRead {
  kind: 'backup' | 'deployment' | 'baseline' | 'trace';
  try: number;
  tries: number;
  lastStatus: string | null;
  lastReadAt: string | null;
  nextReadAt: string;
  /** Present if the last status is final, and may be that of an earlier deployment. */
  unproven?: true;
  /** Present if the last read failed and the operation is not parked. */
  failing?: FailingReads;
  /** Present if a worker makes this read and those after it. */
  pooled?: { everyMs: number };
  /** Present while the operation is parked, because the service does not answer. */
  parked?: Parked;
}

export interface FailingReads {
  reads: number;
  /** The cause of the last failure. */
  reason: string;
}

/** The service has reported `completed`, and the operation checks the site. */
export interface WaitingForCheck {
  kind: 'check';
  siteId: string;
  /** The name of the check in belay.yaml. */
  check: string;
  try: number;
  tries: number;
  goodInARow: number;
  /** How many good reads in a row the check needs. */
  inARow: number;
  /** What the last read showed. Null before the first read. */
  last: string | null;
  nextReadAt: string;
}

export interface Parked {
  since: string;
  /** When the outage budget is used up. */
  until: string;
  /** The cause of the last failure. */
  reason: string;
}

export type RolloutWaiting =
  | {
      kind: 'decision';
      by: string;
      reason: string;
      since: string;
      /** The held servers that a plain resume leaves out. Absent if there is none. */
      held?: string[];
    }
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

/** Runs, operations and rollouts answer the query `why` with this. */
export interface Explanation {
  sentence: string;
  /** Null if the workflow waits for nothing. */
  waiting: Waiting | RolloutWaiting | null;
}
