/**
 * Every name that is stored in Temporal. Histories, schedules and scripts contain them: add, never rename or remove.
 * The glossary in docs/explanation/glossary.md defines the terms of this folder.
 */

export const SCHEMA_VERSION = 1;
export const DEFAULT_TASK_QUEUE = 'belay';
export const DEFAULT_EPOCH = '1';

/** The queue of events beside a queue of runs. */
export const eventTaskQueue = (taskQueue: string): string => `${taskQueue}-events`;

/** The queue of pooled waits, and their activity. */
export const waitTaskQueue = (taskQueue: string): string => `${taskQueue}-waits`;
export const POOLED_WAIT_ACTIVITY = 'pollWhileInProgress';

/** The activity that requests a backup. */
export const BACKUP_ACTIVITY = 'createBackup';

/** Where runs wait for admission, and the activity that waits there. */
export const admissionTaskQueue = (taskQueue: string): string => `${taskQueue}-admission`;
export const ADMISSION_ACTIVITY = 'admitRun';

export const RUN_TYPES = ['backupThenDeploy', 'backupOnly', 'deployOnly', 'watchDeployment'] as const;
export type RunType = (typeof RUN_TYPES)[number];

export const OPERATION_TYPES: readonly string[] = ['backupServer', 'deploySite'];
export const NOTIFICATION_TYPE = 'sendNotifications';

/** Worst first: a run's outcome is the first of these that one of its parts has. */
export const OUTCOMES = ['failed', 'unknown', 'timed_out', 'cancelled', 'not_started', 'completed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Why a status counts as that of Belay's own deployment. Strongest first. */
export const EVIDENCE = ['identity', 'transition', 'changed', 'settled'] as const;
export type Evidence = (typeof EVIDENCE)[number];

export const PHASES = [
  'admission',
  'checking',
  'frozen',
  'approval',
  'queued',
  'backup',
  'deploy',
  'parked',
  'done',
] as const;
/**
 * The phase of a run. In `admission`, it waits because many runs begin at once, in `frozen` for the end of a freeze, in
 * `approval` for people who approve it, in `queued` for another run's lock, and in `parked` for a service that is down.
 */
export type Phase = (typeof PHASES)[number];

export type ErrorType =
  /** The service reported that the backup failed. */
  | 'BackupFailed'
  /** The service reported that a deployment failed. */
  | 'DeploymentFailed'
  /** The service reported `completed`, and the site's own check did not. */
  | 'CheckFailed'
  /** What was measured between two waves of a rollout was too bad. */
  | 'GateFailed'
  /** The tries were used up before the backup ended. It may go on at the service. */
  | 'BackupTimedOut'
  /** The tries were used up before the deployment ended. It may go on at the service. */
  | 'DeploymentTimedOut'
  /** What happened cannot be known: look at the service before you start it again. */
  | 'OutcomeUnknown'
  /** The run was terminated in Temporal, so it left no result. */
  | 'Terminated'
  /** The service no longer knows the server, site or backup. */
  | 'ResourceDeleted'
  /** Something else is at work on it; nothing was triggered. Start it again later. */
  | 'Busy'
  /** It was too late to deploy, or the backup too old; nothing was triggered. */
  | 'TooLate'
  /** A freeze or window holds it back; nothing was triggered. */
  | 'Frozen'
  /** Not enough people approved it in time; nothing was triggered. */
  | 'ApprovalExpired'
  /** A person rejected it; nothing was triggered. */
  | 'ApprovalRejected'
  /** The service or the worker refused it: see the message before you start it again. */
  | 'Refused'
  /** Someone cancelled it. */
  | 'Cancelled'
  /** A newer run replaced it before it began. */
  | 'Superseded'
  /** An operation was started under an id that is not its lock. */
  | 'WrongWorkflowId'
  /** A defect of Belay: report it. */
  | 'Internal'
  /** The call, its options or the configuration are wrong. */
  | 'Usage'
  /** There is no such run, rollout or schedule. */
  | 'NotFound'
  /** The key was used with other input. */
  | 'KeyReused'
  /** Temporal does not answer. What was started goes on. */
  | 'TemporalUnreachable'
  /** No worker polls the task queue; nothing was started. */
  | 'NoWorker'
  /** The caller stopped waiting. The run continues. */
  | 'StoppedWaiting';

/**
 * `lockRequested` goes to the holder of a lock, `lockReleased` to the first waiter, `hint` to workflows that poll, `thawed`
 * to those that wait for the end of a freeze, `superseded` to a run that a newer one may replace, and `reported` to what
 * reports to others how a run stands.
 */
export const SIGNALS = {
  lockRequested: 'lockRequested',
  lockReleased: 'lockReleased',
  hint: 'hint',
  thawed: 'thawed',
  superseded: 'superseded',
  reported: 'reported',
} as const;

/** `approval`: what people are asked to approve; null if nothing is. */
export const QUERIES = { progress: 'progress', why: 'why', approval: 'approval' } as const;

export const SEARCH_ATTRIBUTES = {
  BelaySite: 'KEYWORD_LIST',
  BelayServer: 'KEYWORD_LIST',
  BelayPhase: 'KEYWORD',
  BelayOutcome: 'KEYWORD',
  BelayTrigger: 'KEYWORD',
} as const;

export const ROLLOUT_TYPE = 'rollOut';
export const BACKUP_RECORD_TYPE = 'recordBackup';
export const SCHEDULED_TYPE = 'runScheduled';
export const FREEZE_TYPE = 'freeze';

/** The updates carry a user's decision about a rollout. The signal `hold` carries an event about a server. */
export const ROLLOUT_UPDATES = { pause: 'pause', resume: 'resume', abort: 'abort' } as const;
/** Answered once a worker has said what it thinks of a freeze, and no request can leave that was judged before. */
export const CONFIRM_UPDATE = 'confirm';

/** Decisions about what a run or rollout asks to be approved. */
export const APPROVAL_UPDATES = { approve: 'approve', reject: 'reject' } as const;
export const HOLD_SIGNAL = 'hold';

/** No backup has this id. A read of it shows whether the service answers. */
export const PROBE_BACKUP_ID = 'belay-probe';

export const EVENT_TYPE = 'handleEvent';
