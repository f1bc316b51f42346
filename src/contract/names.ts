/**
 * Every name that is stored in Temporal. Histories, schedules and scripts contain them: add, never rename or remove.
 * docs/explanation/glossary.md defines the terms of this folder.
 */

export const SCHEMA_VERSION = 1;
export const DEFAULT_TASK_QUEUE = 'belay';
export const DEFAULT_EPOCH = '1';

/** Events have a queue beside the queue of runs. */
export const eventTaskQueue = (taskQueue: string): string => `${taskQueue}-events`;

/** Pooled waits have a queue of their own. */
export const waitTaskQueue = (taskQueue: string): string => `${taskQueue}-waits`;
export const POOLED_WAIT_ACTIVITY = 'pollWhileInProgress';

/** The activities that send a POST, and those that make one read. */
export const POST_ACTIVITIES: readonly string[] = ['createBackup', 'triggerDeployment'];
export const READ_ACTIVITIES: readonly string[] = ['readBackup', 'readLatestDeployment'];

/** Runs wait for admission in this queue. */
export const admissionTaskQueue = (taskQueue: string): string => `${taskQueue}-admission`;
export const ADMISSION_ACTIVITY = 'admitRun';

export const RUN_TYPES = ['backupThenDeploy', 'backupOnly', 'deployOnly', 'watchDeployment'] as const;
export type RunType = (typeof RUN_TYPES)[number];

export const OPERATION_TYPES: readonly string[] = ['backupServer', 'deploySite'];
export const NOTIFICATION_TYPE = 'sendNotifications';

/** Worst first: the outcome of a run is the first of these that any part of the run has. */
export const OUTCOMES = ['failed', 'unknown', 'timed_out', 'cancelled', 'not_started', 'completed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Why a status counts as that of Belay's own deployment. Strongest first. */
export const EVIDENCE = ['identity', 'transition', 'changed', 'settled'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** Why a worker refuses a query. Clients of another release look for it. */
export const UNTIMELY_QUERY = 'the query came beside events of which no task has begun: ask again';

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
 * The phase of a run. In `checking`, a worker checks what it asks for, and reads its targets once; in `admission`, it waits
 * because many runs begin at once; in `frozen`, for the end of a freeze; in `approval`, for people who approve it; in
 * `queued`, for another run's lock; and in `parked`, for a service that is down.
 */
export type Phase = (typeof PHASES)[number];

export type ErrorType =
  /** The service reported that the backup failed. */
  | 'BackupFailed'
  /** The service reported that a deployment failed. */
  | 'DeploymentFailed'
  /** The service reported `completed`, but the site did not pass its own check. */
  | 'CheckFailed'
  /** A measurement between two waves of a rollout was too bad. */
  | 'GateFailed'
  /** The tries were used up before the backup ended. It may continue at the service. */
  | 'BackupTimedOut'
  /** The tries were used up before the deployment ended. It may continue at the service. */
  | 'DeploymentTimedOut'
  /** What happened cannot be known: look at the service before you start it again. */
  | 'OutcomeUnknown'
  /** The run was terminated in Temporal, so it left no result. */
  | 'Terminated'
  /** The service no longer knows the server, site or backup. */
  | 'ResourceDeleted'
  /** Something else is working on the server or target; nothing was triggered. Start it again later. */
  | 'Busy'
  /** It was too late to deploy, or the backup too old; nothing was triggered. */
  | 'TooLate'
  /** A freeze or window held it back; nothing was triggered. */
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
  /** Temporal does not answer. What was started continues. */
  | 'TemporalUnreachable'
  /** No worker polls the task queue; nothing was started. */
  | 'NoWorker'
  /** The caller stopped waiting. The run continues. */
  | 'StoppedWaiting';

/**
 * `lockRequested` goes to the holder of a lock, `lockReleased` to the first waiter, `hint` to workflows that poll,
 * `thawed` to workflows that wait for the end of a freeze, `superseded` to a run that a newer run may replace, and
 * `reported` to the workflow that reports the state of a run.
 */
export const SIGNALS = {
  lockRequested: 'lockRequested',
  lockReleased: 'lockReleased',
  hint: 'hint',
  thawed: 'thawed',
  superseded: 'superseded',
  reported: 'reported',
} as const;

/** `approval` returns what people are asked to approve, or null. */
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
/** A worker answers with its judgment of a freeze, once no request that was judged before the freeze can leave. */
export const CONFIRM_UPDATE = 'confirm';

/** Decisions about what a run or rollout asks people to approve. */
export const APPROVAL_UPDATES = { approve: 'approve', reject: 'reject' } as const;
export const HOLD_SIGNAL = 'hold';

/** No backup has this id. Reading it shows whether the service answers. */
export const PROBE_BACKUP_ID = 'belay-probe';

export const EVENT_TYPE = 'handleEvent';
