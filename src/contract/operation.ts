/** An operation is one backup or one deployment, a child of a run. Stored in histories: add, never rename or remove. */
import type { Evidence } from './names.ts';
import type { BackupResult, DeploymentResult, RunError, Waits } from './run.ts';
import type { ServedService } from './service-identity.ts';
import type { Target } from './target.ts';
import type { CheckAim } from '../features/site-checks/shapes.ts';
import type { RunWork } from '../features/superseding/shapes.ts';
import type { Waiting } from './waiting.ts';
import type { AnswerWithIds, DeploymentIdField, ForPermits, StatusWords } from './activities.ts';

/**
 * The phase of an operation. `baseline` includes the wait for another deployment to finish. In `parked`, it waits for a
 * service that does not answer, and sends no trigger. In `verify`, the service has reported `completed`, and the
 * operation checks the site.
 */
export type OperationPhase = 'baseline' | 'trigger' | 'reconcile' | 'wait' | 'parked' | 'verify' | 'done';

/** One execution of a workflow in Temporal. */
export interface Execution {
  workflowId: string;
  runId: string;
}

/** A run that waits for a lock. */
export interface Waiter extends Execution {
  /** When the run first requested the lock. Waiters get the lock in this order. */
  since: string;
  /** Absent if no newer run replaces this run, and this run replaces none. */
  work?: RunWork;
}

/** What the run recorded about the service when it was admitted. */
export interface RecordedService extends ServedService, DeploymentIdField {
  statuses: StatusWords;
  /** The word in `BELAY_EPOCH`. A different word means that Temporal's database was restored since. */
  epoch: string;
}

export type AdmissionRead = 'status' | 'not_deployed' | 'failed';

export interface OperationInput extends RecordedService, ForPermits {
  searchAttributes: boolean;
  idempotencyKey: string;
  /** True if the run was reset. An earlier execution may have sent the request already. */
  reset: boolean;
  intervalMs: number;
  tries: number;
  /** The part of the interval by which every try is delayed. */
  jitter: number;
  waits: Waits;
  ifBusy: 'wait' | 'fail';
  /** How long to wait in all for a service that does not answer; null for no longer than failed reads are retried. */
  outageBudgetMs: number | null;
  /** The work of the run that starts the operation. Absent if no newer run replaces that run, and it replaces none. */
  work?: RunWork;
  /** The waiters to take over with the lock. */
  waiters: Waiter[];
}

export interface BackupServerInput extends OperationInput {
  serverId: string;
}

/** After `at`, nothing is triggered. */
export interface Deadline {
  at: string;
  /** What sets the deadline, for the message. */
  reason: string;
}

/** Deploys a site or an app: the type of the workflow is `deploySite` for both. */
export interface DeploySiteInput extends OperationInput {
  target: Target;
  deadline: Deadline | null;
  /** The server that was backed up, if any. */
  serverId?: string;
  /**
   * What the run read when it was admitted. Once that was a status, no 404 means that the target was never deployed.
   */
  admissionRead: AdmissionRead;
  /** The answers with ids that the run has read. Absent if there were none. */
  earlierAnswers?: AnswerWithIds[];
  settleMs: number;
  minEvidence: Evidence;
  baselineWaitMs: number;
  onAmbiguous: 'resend' | 'stop';
  /** What the site has to do afterwards. Absent if nothing is checked. */
  check?: CheckAim;
}

/** What the operation of a deployment returns to its run. */
export interface OperatedDeployment extends DeploymentResult {
  /** The answers with ids until now, if it deployed nothing: none is about the run's next request. */
  readAnswers?: AnswerWithIds[];
}

/** The result as the run reports it. */
export function reportedDeployment(operated: OperatedDeployment): DeploymentResult {
  const reported = { ...operated };
  delete reported.readAnswers;
  return reported;
}

/** The end of a backup, for the runs that share it. */
export interface BackupConclusion {
  service: string;
  result: BackupResult;
  error: RunError | null;
}

/** The operation that is a lock now, or was the last one. */
export interface LockHolder {
  /** Null if Temporal did not answer. */
  runId: string | null;
  /** True if the lock is free. */
  isClosed: boolean;
  /** The service that the lock is held for, as far as known. */
  service?: string;
  /** The run that holds the lock, as far as known. */
  lockedBy: string | null;
  /** True if its history has room for a request. */
  acceptsSignals: boolean;
}

export interface LockRequested {
  waiters: Waiter[];
}

export interface LockReleased {
  lockId: string;
  /** The remaining waiters. */
  waiters: Waiter[];
  /** The backup that the holder of a server's lock made. */
  backup: BackupConclusion | null;
}

/** The memo of an operation tells for which service it holds the lock. */
export interface OperationMemo {
  service: string;
}

export interface OperationProgress<R = BackupResult | DeploymentResult> {
  phase: OperationPhase;
  result: R;
  waiting: Waiting | null;
}

/* Which server a backup belongs to, so that the server is found by the backup's id. */

/** What a record says: an operation of Belay made the backup, a run uses one from elsewhere, or an event reported it. */
export type BackupRecordKind = 'made' | 'adopted' | 'shared' | 'failed';

/** Memo of a `recordBackup` workflow. It is found by its id at once, whereas search attributes lag. */
export interface BackupRecord {
  /** Absent in records of older versions. */
  service?: string;
  backupId: string;
  serverId: string;
  /** When the backup started, as far as known. Its age counts from here. */
  startedAt: string;
  /**
   * When the event that reported it says so, if that is later than Temporal's clock allows. Of two events, the later one
   * counts. Absent in most records, and in those of older versions.
   */
  reportedAt?: string;
}
