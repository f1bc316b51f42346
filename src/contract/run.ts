/**
 * The input, result and progress of a run. Stored in running histories: add, never rename or remove.
 * Workflows import this folder: no I/O here, no zod, JSON values only. Times are ISO 8601 UTC, durations milliseconds.
 */
import type { Outcome, Evidence, Phase, ErrorType } from './names.ts';
import type { CheckResult, CheckWaiver } from '../features/site-checks/shapes.ts';
import type { Approved } from '../features/approvals/shapes.ts';
import type { FreezeOverride, Held } from '../features/freezes/shapes.ts';
import type { Target, TargetsInput } from './target.ts';
import type { SupersededBy } from '../features/superseding/shapes.ts';
import type { Waiting } from './waiting.ts';

export interface RunError {
  /** What ended it, or why there is no verdict; for a `switch`. Each member says what it means. */
  type: ErrorType;
  /** What was wrong, where, and what to do. */
  message: string;
}

interface BackupOptions {
  /** Time between two reads of the backup's status, in milliseconds. Default: 15,000. */
  intervalMs?: number;
  /** Number of reads before the backup ends `timed_out` (`BackupTimedOut`). Default: 20. */
  tries?: number;
  /** Reuse a completed backup that began at most this long ago, in milliseconds. Default: make a new one. */
  maxAgeMs?: number;
  /**
   * Trigger a deployment only while the backup is at most this old, counted from when it began, in milliseconds; else the
   * run ends `not_started` (`TooLate`). Default: 24 hours, or `maxAgeMs` plus an hour if that is longer.
   */
  maxAgeAtDeployMs?: number;
  /** Use this existing backup; wait for it if it is still running. */
  backupId?: string;
}

export interface DeployOptions {
  /** Time between two reads of the deployment's status, in milliseconds. Default: 10,000. */
  intervalMs?: number;
  /** Number of reads before the deployment ends `timed_out` (`DeploymentTimedOut`). Default: 30. */
  tries?: number;
  /**
   * How long a final status must stay unchanged to be accepted, and how long to look for a trace of an ambiguous request,
   * in milliseconds. Default: 6 × interval, at least 10 seconds.
   */
  settleMs?: number;
  /** Weakest evidence to accept; a verdict with less is `unknown` (`OutcomeUnknown`). Default: `settled`. */
  minEvidence?: Evidence;
  /**
   * Longest time to wait for a deployment of someone else to end before the trigger, in milliseconds; then the run ends
   * `not_started` (`Busy`). Default: tries × interval.
   */
  baselineWaitMs?: number;
  /** If an ambiguous request left no trace: send it once more (default), or stop with `unknown`. */
  onAmbiguous?: 'resend' | 'stop';
}

/** The first such time after an instant, in a time zone. */
export interface DailyDeadline {
  /** `06:00` */
  time: string;
  timeZone: string;
  /** ISO 8601; the nominal time of a schedule's slot. Default: when the run or rollout started. */
  after?: string;
}

/**
 * Who makes the reads of an operation in progress. `loop`: its workflow, one by one. `pooled`: a worker, for many operations
 * at once, which costs Temporal one activity for each.
 */
export type Waits = 'loop' | 'pooled';

/** `wait`: a run waits before its backup, and holds no lock. */
type IfFrozen = 'fail' | 'wait';

export interface RunInput extends TargetsInput {
  /** Identity of the service: URL and `#account`. Default: the service of the worker that executes the run. */
  service?: string;
  /** The epoch that its starter saw at the workers. In another one it sends nothing. */
  epoch?: string;
  /** The server to back up first. Default: no backup is made, and the sites or apps are only deployed. */
  serverId?: string;
  /** The fleet of the rollout that starts this run. What is for that fleet holds the run back, too. */
  fleet?: string;
  /** How the backup is waited for, or which one is used. Only with `serverId`. */
  backup?: BackupOptions;
  /** How each deployment is waited for, and what counts as its verdict. Only with sites or apps. */
  deploy?: DeployOptions;
  /**
   * What to do while another deployment of the target is in progress, or the service answers 409 or 423: wait, or end
   * `not_started` (`Busy`). The lock of a server is always waited for. Default: `wait`.
   */
  ifBusy?: 'wait' | 'fail';
  /** Longest time to wait for a lock, in milliseconds; then the run ends `not_started` (`Busy`). Default: 30 minutes. */
  busyTimeoutMs?: number;
  /** Who makes the reads. Default: `loop`. */
  waits?: Waits;
  /** What to do while a freeze or window holds the run back. Default: `fail`. */
  ifFrozen?: IfFrozen;
  /** Longest total time to wait for freezes to end, in milliseconds. Default: 12 hours. */
  freezeWaitMs?: number;
  /** Freezes and windows that do not hold this run back. */
  override?: FreezeOverride;
  /** Approvals of the worker's belay.yaml that have to be given, besides those that its policy asks for. */
  approval?: string | string[];
  /** What was approved for the rollout that starts this run. */
  approved?: Approved[];
  /** How long an operation waits in all for a service that does not answer, before failed reads end it. Default: not. */
  outageBudgetMs?: number;
  /** A run that no worker starts within this time, in milliseconds, ends `not_started`. Default: 10 minutes. */
  startWithinMs?: number;
  /** Start no deployment later than this after the run started, in milliseconds. Default: no limit. */
  startDeploysWithinMs?: number;
  /** Start no deployment after this time of day. */
  deploysUntil?: DailyDeadline;
  /** Deploy the next target even if one is not `completed`. Default: the first that is not stops the run. */
  keepGoing?: boolean;
  /** Leaves out the checks of its sites. */
  noCheck?: CheckWaiver;
  /** Replace older runs that wait and that this one covers. */
  supersede?: boolean;
  /** The commit that the sites have to show afterwards: 7 to 64 hex digits. */
  commit?: string;
  /** Any commit but the one before will do. */
  orNewer?: boolean;
  /** Name of the worker's heartbeat URL to call when the run is `completed`. */
  heartbeat?: string;
  /**
   * Notes that come back in the result, such as a build number. Each is cut after 200 characters; more than 4 KB in all is
   * refused (`Usage`). They are no part of what a key stands for.
   */
  meta?: Record<string, string>;
}

/** The outcome of the POST that starts an operation. */
export interface TriggerReport {
  /** Requests that a worker took up to send them. */
  attempts: number;
  ambiguous: boolean;
  /** How an ambiguous trigger was resolved. */
  reconciledBy: Evidence | 'resent' | null;
}

/** `given`: named by its id. Its server was checked only if Belay made it, or if an event announced it. */
export type BackupSource = 'created' | 'shared' | 'reused' | 'given';

/** What the results of backups and deployments have in common. */
interface OperationResult {
  /** Null while it is in progress. */
  outcome: Outcome | null;
  /** As the service wrote it; null if none was read. */
  lastStatus: string | null;
  /** How often its status was read. */
  polls: number;
  trigger: TriggerReport;
  /** When this part of the run began, ISO 8601; null if it did not. */
  startedAt: string | null;
  /** When its trigger was known to be accepted. Null for an operation that something else started. */
  acceptedAt: string | null;
  /** When a status in progress was last read: the operation ended between then and `endedAt`. */
  inProgressAt: string | null;
  endedAt: string | null;
}

export interface BackupResult extends OperationResult {
  serverId: string;
  backupId: string | null;
  /** Null while it is not known. */
  source: BackupSource | null;
}

export interface DeploymentResult extends OperationResult {
  target: Target;
  /** Null for an app. */
  siteId: string | null;
  /** Why the status is taken to be that of this deployment; null without a verdict. */
  evidence: Evidence | null;
  /** When the wait for its status ended. The check of the site comes after it. */
  verdictAt: string | null;
  /** Null if the site has none. */
  check: CheckResult | null;
  error: RunError | null;
}

/** A run's input with every default filled in. Recorded when the run begins. */
export interface RunPlan {
  backup: {
    intervalMs: number;
    tries: number;
    maxAgeMs: number | null;
    maxAgeAtDeployMs: number;
    backupId: string | null;
  };
  deploy: Required<DeployOptions>;
  /** Absent in plans from before it existed: `loop`. */
  waits?: Waits;
  ifBusy: 'wait' | 'fail';
  busyTimeoutMs: number;
  /** Absent in plans from before it existed: then a run never waits, and asks about freezes only when it begins. */
  ifFrozen?: IfFrozen;
  freezeWaitMs?: number;
  outageBudgetMs: number | null;
  startWithinMs: number;
  startDeploysWithinMs: number | null;
  keepGoing: boolean;
  /** Absent in plans from before it existed: it replaces none. */
  supersede?: boolean;
  /** Absent in plans from before it existed. */
  approval?: string | string[] | null;
  /** Absent in plans from before it existed, as is `orNewer`. */
  commit?: string | null;
  orNewer?: boolean;
}

/** The result of a run. While it is in progress, `outcome` is null and the other fields hold what is known. */
export interface RunResult {
  schemaVersion: number;
  /** Its id, which `belay wait`, `status` and `cancel` take; null if no run was reached. */
  workflowId: string | null;
  runId: string | null;
  /** Whether this command or call joined a run that another had started. A workflow cannot know, and says false. */
  attached: boolean;
  /** URL and `#account` of the service that it was for. */
  service: string | null;
  /** The worst of its parts, in the order failed, unknown, timed_out, cancelled, not_started, completed; null in flight. */
  outcome: Outcome | null;
  /** How far it is. */
  phase: Phase | null;
  /** Null if none was asked for. */
  backup: BackupResult | null;
  /** One for each site or app that was asked for, in order; `not_started` for one that was never triggered. */
  deployments: DeploymentResult[];
  /** Why it is not `completed`; null if it is, or while it is in flight. */
  error: RunError | null;
  /** The newer run that took its place before it began. Absent in results of earlier versions. */
  supersededBy: SupersededBy | null;
  /** The commit that the sites had to show; null for any. */
  commit: string | null;
  /**
   * Whether the check of every target that was deployed saw that commit there, or a newer one if that will do. Null without a
   * commit, and until the run has deployed something. Absent in results of earlier versions.
   */
  commitSeen: boolean | null;
  /** What it waited for, in order. Absent in results of earlier versions. */
  held: Held[];
  meta: Record<string, string> | null;
  /** `ui`: its page in the Temporal UI; null if the address of the UI is not known (`uiUrl`, `BELAY_UI_URL`). */
  links: { ui: string | null };
  startedAt: string | null;
  endedAt: string | null;
}

/** The memo of a run. It lets clients compare the input of a key without a worker. */
export interface RunMemo {
  input: RunInput;
  /** The id of the schedule that started it, if a failure pauses that schedule. */
  pausesSchedule?: string;
  /** Who started it. Absent if a workflow did, and in memos of earlier versions. */
  by?: string;
}

export interface RunProgress {
  result: RunResult;
  waiting: Waiting | null;
  /** The operation in progress. Query its own progress for the tries. */
  operation: { workflowId: string; runId: string } | null;
}
