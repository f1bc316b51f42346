/**
 * Every name and shape that crosses Temporal. All of it is stored in running histories: add, never rename or remove.
 * Workflows import this file: no I/O here, no zod, JSON values only. Times are ISO 8601 UTC, durations milliseconds.
 */

export const SCHEMA_VERSION = 1;
export const DEFAULT_TASK_QUEUE = 'belay';

/** Every workflow of ours is started so: a task lost with its worker is taken up by another one after this long. */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;

export const RUN_TYPES = ['backupThenDeploy', 'backupOnly', 'deployOnly', 'watchDeployment'] as const;
export type RunType = (typeof RUN_TYPES)[number];

/** Worst first: a run's outcome is the first of these that one of its parts has. */
export const OUTCOMES = ['failed', 'unknown', 'timed_out', 'cancelled', 'not_started', 'completed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Strongest first. Why a status is held to be that of our deployment. */
export const EVIDENCE = ['identity', 'transition', 'changed', 'settled'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** Where a run is; `queued` waits for another run's lock. */
export type Phase = 'checking' | 'queued' | 'backup' | 'deploy' | 'done';

/** Where an operation is; `baseline` includes waiting for somebody else's deployment to end. */
export type OperationPhase = 'baseline' | 'trigger' | 'reconcile' | 'wait' | 'done';

export type ErrorType =
  | 'BackupFailed'
  | 'DeploymentFailed'
  | 'BackupTimedOut'
  | 'DeploymentTimedOut'
  | 'OutcomeUnknown'
  | 'Terminated'
  | 'ResourceDeleted'
  | 'Busy'
  | 'Refused'
  | 'Cancelled'
  | 'WrongWorkflowId'
  | 'Internal'
  | 'Usage'
  | 'NotFound'
  | 'KeyReused'
  | 'TemporalUnreachable'
  | 'NoWorker'
  | 'StoppedWaiting';

export interface RunError {
  type: ErrorType;
  message: string;
}

// ---- A run -----------------------------------------------------------------------------------------------------

export interface BackupOptions {
  intervalMs?: number;
  tries?: number;
  /** Rest on a completed backup that began at most this long ago. */
  maxAgeMs?: number;
  /** Rest on this backup, made or in the making. */
  backupId?: string;
}

export interface DeployOptions {
  intervalMs?: number;
  tries?: number;
  settleMs?: number;
  minEvidence?: Evidence;
  baselineWaitMs?: number;
  /** After a trigger that left no trace: send it once more (default), or stop with `unknown`. */
  onAmbiguous?: 'resend' | 'stop';
}

export interface RunInput {
  /** Origin of the service the run is meant for; default: that of the worker which takes it. */
  service?: string;
  serverId?: string;
  siteIds: string[];
  backup?: BackupOptions;
  deploy?: DeployOptions;
  ifBusy?: 'wait' | 'fail';
  busyTimeoutMs?: number;
  /** A run whose first task starts later than this ends `not_started`. */
  startWithinMs?: number;
  keepGoing?: boolean;
  /** Name of the worker's heartbeat URL to call when the run is `completed`. */
  heartbeat?: string;
  meta?: Record<string, string>;
}

/** What became of the POST that starts an operation. */
export interface TriggerReport {
  attempts: number;
  ambiguous: boolean;
  /** How an ambiguous trigger was settled. */
  reconciledBy: Evidence | 'resent' | null;
}

export type BackupSource = 'created' | 'shared' | 'reused' | 'given';

export interface BackupResult {
  serverId: string;
  backupId: string | null;
  /** Null where nobody knows yet. */
  source: BackupSource | null;
  outcome: Outcome | null;
  lastStatus: string | null;
  polls: number;
  trigger: TriggerReport;
  startedAt: string | null;
  endedAt: string | null;
}

export interface DeploymentResult {
  siteId: string;
  outcome: Outcome | null;
  evidence: Evidence | null;
  lastStatus: string | null;
  polls: number;
  trigger: TriggerReport;
  startedAt: string | null;
  endedAt: string | null;
  error: RunError | null;
}

/** The result of a run, and in flight what is known of it: then `outcome` is null. */
export interface RunResult {
  schemaVersion: number;
  workflowId: string | null;
  runId: string | null;
  service: string | null;
  outcome: Outcome | null;
  phase: Phase | null;
  backup: BackupResult | null;
  deployments: DeploymentResult[];
  error: RunError | null;
  meta: Record<string, string> | null;
  links: { ui: string | null };
  startedAt: string | null;
  endedAt: string | null;
}

/** What the starter remembers in a run's memo, so that a key can be compared without a worker. */
export interface RunMemo {
  input: RunInput;
}

// ---- An operation: one backup or one deployment, the child of a run ----------------------------------------------

/** A run that waits for a lock. */
export interface Waiter {
  workflowId: string;
  runId: string;
  /** When it first asked: waiters are served in this order. */
  since: string;
}

interface OperationInput {
  service: string;
  searchAttributes: boolean;
  idempotencyKey: string;
  /** Whether the run was reset: an earlier execution of it may have sent the request already. */
  reset: boolean;
  intervalMs: number;
  tries: number;
  ifBusy: 'wait' | 'fail';
  /** The queue that came with the lock. */
  waiters: Waiter[];
}

export interface BackupServerInput extends OperationInput {
  serverId: string;
}

export interface DeploySiteInput extends OperationInput {
  siteId: string;
  settleMs: number;
  minEvidence: Evidence;
  baselineWaitMs: number;
  onAmbiguous: 'resend' | 'stop';
}

/** How a backup ended, as it is handed to the runs that share it. */
export interface BackupEnd {
  result: BackupResult;
  error: RunError | null;
}

// ---- Messages ----------------------------------------------------------------------------------------------------

/** Signals. To the holder of a lock: `lockRequested`. To the first waiter: `lockReleased`. To whoever polls: `hint`. */
export const SIGNALS = { lockRequested: 'lockRequested', lockReleased: 'lockReleased', hint: 'hint' } as const;

export interface LockRequested {
  waiters: Waiter[];
}

export interface LockReleased {
  lockId: string;
  /** The rest of the queue. */
  waiters: Waiter[];
  /** The backup the holder of a server's lock made. */
  backup: BackupEnd | null;
}

export const QUERIES = { progress: 'progress', why: 'why' } as const;

/** What a workflow waits for right now. */
export type Waiting =
  | { for: 'lock'; lockId: string; since: string; /** The run, as far as known. */ heldBy?: string | null }
  | {
      for: 'backup' | 'deployment' | 'baseline' | 'trace';
      try: number;
      tries: number;
      lastStatus: string | null;
      lastReadAt: string | null;
      nextReadAt: string;
    };

export interface RunProgress {
  result: RunResult;
  waiting: Waiting | null;
  /** The operation in flight: its own progress tells the tries. */
  operation: { workflowId: string; runId: string } | null;
}

export interface OperationProgress<R = BackupResult | DeploymentResult> {
  phase: OperationPhase;
  result: R;
  waiting: Waiting | null;
}

// ---- Activities ----------------------------------------------------------------------------------------------------

export type StatusState = 'completed' | 'failed' | 'in_progress';

/** A read of a status, with its failure as a value: a failed read is nothing unexpected to a wait. */
export type ReadResult =
  | {
      ok: true;
      status: string;
      state: StatusState;
      /** What the answer says of the record's identity: `id:17`, `commit:ab12`, `time:2026-01-01T00:00:00Z`. */
      marks: string[];
    }
  | ReadFailure;

export interface ReadFailure {
  ok: false;
  kind: 'http' | 'network' | 'timeout' | 'protocol' | 'other_service' | 'worker';
  httpStatus: number | null;
  retryAfterMs: number | null;
  message: string;
}

/** The failures a trigger throws; anything else it fails with is ambiguous. Only `Ambiguous` may have had an effect. */
export const TRIGGER_FAILURES = ['NotSent', 'Throttled', 'Conflict', 'Refused', 'Ambiguous', 'Reset'] as const;
export type TriggerFailureType = (typeof TRIGGER_FAILURES)[number];

export interface TriggerFailureDetails {
  httpStatus: number | null;
  retryAfterMs: number | null;
}

export interface TriggerActivityInput {
  service: string;
  idempotencyKey: string;
  /** Of the operation's first execution: one that was reset sends nothing. */
  firstRunId: string;
}

// ---- Search attributes ---------------------------------------------------------------------------------------------

export const SEARCH_ATTRIBUTES = {
  BelaySite: 'KEYWORD_LIST',
  BelayServer: 'KEYWORD_LIST',
  BelayPhase: 'KEYWORD',
  BelayOutcome: 'KEYWORD',
  BelayTrigger: 'KEYWORD',
} as const;
