/**
 * The input, result and progress of a run. Running histories store these shapes: add, never rename or remove. Workflows
 * import this folder: no I/O here, no zod, JSON values only. Times are ISO 8601 UTC, durations milliseconds.
 */
import type { Outcome, Evidence, Phase, ErrorType } from './names.ts';
import type { CheckResult, CheckWaiver } from '../features/site-checks/shapes.ts';
import type { Approved } from '../features/approvals/shapes.ts';
import type { FreezeOverride, Held, LetOff } from '../features/freezes/shapes.ts';
import type { Target, TargetsInput } from './target.ts';
import type { Execution } from './operation.ts';
import type { Waiting } from './waiting.ts';

export interface RunError {
  /** What ended the run, or why there is no verdict, for a `switch`. Each member of the type says what it means. */
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
   * The oldest backup with which a deployment is still triggered, counted from when the backup began, in milliseconds.
   * With an older backup, the run ends `not_started` (`TooLate`). Default: 24 hours, or `maxAgeMs` plus an hour if that
   * is longer.
   */
  maxAgeAtDeployMs?: number;
  /** Uses this existing backup, and waits for it if it is still running. */
  backupId?: string;
}

export interface DeployOptions {
  /** Time between two reads of the deployment's status, in milliseconds. Default: 10,000. */
  intervalMs?: number;
  /** Number of reads before the deployment ends `timed_out` (`DeploymentTimedOut`). Default: 30. */
  tries?: number;
  /**
   * How long a final status must stay unchanged to be accepted, and how long to look for a trace of an ambiguous
   * request, in milliseconds. Default: 6 × interval, at least 10 seconds.
   */
  settleMs?: number;
  /** Weakest evidence to accept; a verdict with less is `unknown` (`OutcomeUnknown`). Default: `settled`. */
  minEvidence?: Evidence;
  /**
   * Longest time to wait for a deployment of someone else to end before the trigger, in milliseconds. After that, the
   * run ends `not_started` (`Busy`). Default: tries × interval.
   */
  baselineWaitMs?: number;
  /** What to do if an ambiguous request left no trace: send it once more (default), or stop with `unknown`. */
  onAmbiguous?: 'resend' | 'stop';
}

/** The first instant after `after` at which clocks in a time zone show this time. */
export interface DailyDeadline {
  /** `06:00` */
  time: string;
  timeZone: string;
  /** ISO 8601, such as the nominal time of a schedule's slot. Default: when the run or rollout started. */
  after?: string;
}

/**
 * Who makes the reads of an operation in progress. `loop`: its workflow, one by one. `pooled`: a worker, for many
 * operations at once, which costs Temporal one activity for each operation.
 */
export type Waits = 'loop' | 'pooled';

/** With `wait`, a run waits before its backup, and holds no lock. */
type IfFrozen = 'fail' | 'wait';

export interface RunInput extends TargetsInput {
  /** Identity of the service: URL and `#account`. Default: the service of the worker that executes the run. */
  service?: string;
  /** The epoch that the starter saw at the workers. In another epoch, the run sends nothing. */
  epoch?: string;
  /** The server to back up first. Default: the run makes no backup, and only deploys the sites or apps. */
  serverId?: string;
  /** The fleet of the rollout that starts this run. A freeze or window for that fleet holds the run back, too. */
  fleet?: string;
  /** How to wait for the backup, or which backup to use. Only with `serverId`. */
  backup?: BackupOptions;
  /** How to wait for each deployment, and what counts as its verdict. Only with sites or apps. */
  deploy?: DeployOptions;
  /**
   * What to do while another deployment of the target is in progress, or while the service answers 409 or 423: wait, or
   * end `not_started` (`Busy`). A run always waits for the lock of a server. Default: `wait`.
   */
  ifBusy?: 'wait' | 'fail';
  /**
   * Longest time to wait for a lock, in milliseconds. After that, the run ends `not_started` (`Busy`). Default: 30
   * minutes.
   */
  busyTimeoutMs?: number;
  /** Who makes the reads. Default: `loop`. */
  waits?: Waits;
  /** What to do while a freeze or window holds the run back. Default: `fail`. */
  ifFrozen?: IfFrozen;
  /** Longest total time to wait for freezes to end, in milliseconds. Default: 12 hours. */
  freezeWaitMs?: number;
  /** Exempts this run from freezes and windows. */
  override?: FreezeOverride;
  /** Approvals of the worker's belay.yaml that people have to give, besides those that its policy asks for. */
  approval?: string | string[];
  /** What people approved for the rollout that starts this run. */
  approved?: Approved[];
  /** The freezes and windows that the rollout of this run was exempted from when it began. They count for its override only. */
  letOff?: LetOff[];
  /**
   * How long an operation waits in all for a service that does not answer, in milliseconds, before failed reads end it.
   * Default: it does not wait.
   */
  outageBudgetMs?: number;
  /** A run that no worker starts within this time, in milliseconds, ends `not_started`. Default: 10 minutes. */
  startWithinMs?: number;
  /** The run starts no deployment later than this after its own start, in milliseconds. Default: no limit. */
  startDeploysWithinMs?: number;
  /** The run starts no deployment after this time of day. */
  deploysUntil?: DailyDeadline;
  /**
   * Deploys the next target even if one is not `completed`. Default: the first target that is not `completed` stops the
   * run.
   */
  keepGoing?: boolean;
  /** Leaves out the checks of its sites. */
  noCheck?: CheckWaiver;
  /** Replaces older runs that are still waiting and whose work this run covers. */
  supersede?: boolean;
  /** The commit that the sites have to show afterwards: 7 to 64 hex digits. */
  commit?: string;
  /** Accepts any commit but the one before. */
  orNewer?: boolean;
  /** Name of the worker's heartbeat URL to call when the run is `completed`. */
  heartbeat?: string;
  /**
   * Notes that come back in the result, such as a build number. Each note is cut after 200 characters; more than 4 KB
   * in all are refused (`Usage`). A key may be used again with other notes.
   */
  meta?: Record<string, string>;
}

/** What came of the POST that starts an operation. */
export interface TriggerReport {
  /** How many requests workers took to send them. */
  attempts: number;
  ambiguous: boolean;
  /** How an ambiguous trigger was resolved. */
  reconciledBy: Evidence | 'resent' | null;
}

/**
 * Where the backup came from. `given`: the input named its id. Its server was checked only if Belay made the backup, or
 * if an event announced it.
 */
export type BackupSource = 'created' | 'shared' | 'reused' | 'given';

interface OperationResult {
  /** Null while the operation is in progress. */
  outcome: Outcome | null;
  /** The last status as the service wrote it. Null if none was read. */
  lastStatus: string | null;
  /** How often the status was read. */
  polls: number;
  /** How the request that starts the operation went. */
  trigger: TriggerReport;
  /** When this part of the run began, ISO 8601. Null if it did not begin. */
  startedAt: string | null;
  /** When the trigger was known to be accepted. Null for an operation that something else started. */
  acceptedAt: string | null;
  /** When a status in progress was last read. The operation ended between then and `endedAt`. */
  inProgressAt: string | null;
  /** When this part of the run ended, ISO 8601. Null while it is in progress, and if it did not begin. */
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
  /**
   * The strongest evidence so far that the status is that of this deployment, even in flight and without a verdict. Null
   * if there is none.
   */
  evidence: Evidence | null;
  /** When the wait for the status ended. The check of the site comes after it. */
  verdictAt: string | null;
  /** Null if the site has no check. */
  check: CheckResult | null;
  error: RunError | null;
}

/** A run's input with every default filled in, as recorded when the run begins. */
export interface RunPlan {
  backup: {
    intervalMs: number;
    tries: number;
    maxAgeMs: number | null;
    maxAgeAtDeployMs: number;
    backupId: string | null;
  };
  deploy: Required<DeployOptions>;
  waits: Waits;
  ifBusy: 'wait' | 'fail';
  busyTimeoutMs: number;
  ifFrozen: IfFrozen;
  freezeWaitMs: number;
  outageBudgetMs: number | null;
  startWithinMs: number;
  startDeploysWithinMs: number | null;
  keepGoing: boolean;
  supersede: boolean;
  approval: string | string[] | null;
  commit: string | null;
  orNewer: boolean;
}

/** The result of a run. While it is in progress, `outcome` is null and the other fields hold what is known. */
export interface RunResult {
  schemaVersion: number;
  /** The id of the run, for `belay wait`, `status` and `cancel`. Null if no run was reached. */
  workflowId: string | null;
  runId: string | null;
  /**
   * Whether this command or call joined a run that another one had started. A workflow cannot know this, and says
   * false.
   */
  attached: boolean;
  /** URL and `#account` of the service that the run was for. */
  service: string | null;
  /**
   * The worst outcome of its parts, in the order failed, unknown, timed_out, cancelled, not_started, completed. Null
   * while the run is in flight.
   */
  outcome: Outcome | null;
  /** The progress of the run. */
  phase: Phase | null;
  /** Null if no backup was asked for, and in a run that has not begun its backup or ended before it. */
  backup: BackupResult | null;
  /** One entry for each requested site or app, in order. It is `not_started` for a target that was never triggered. */
  deployments: DeploymentResult[];
  /** Why the run is not `completed`. Null if it is, and while it is in flight. */
  error: RunError | null;
  /** The newer run that replaced this run before it began. Absent in results of earlier versions. */
  supersededBy: Execution | null;
  /** The commit that the sites had to show. Null if any commit would do. */
  commit: string | null;
  /**
   * Whether the check of every deployed target saw that commit, or a newer one if that will do. Null without a commit,
   * and until the run has deployed something. Absent in results of earlier versions.
   */
  commitSeen: boolean | null;
  /** What the run waited for, in order. Absent in results of earlier versions. */
  held: Held[];
  meta: Record<string, string> | null;
  /**
   * `ui` is the page of the run in the Temporal UI. It is null if the address of the UI is not known (`uiUrl`,
   * `BELAY_UI_URL`).
   */
  links: { ui: string | null };
  /** When Temporal accepted the run, ISO 8601. */
  startedAt: string | null;
  /** When the run ended, ISO 8601. Null while it is in flight. */
  endedAt: string | null;
  /** Why a list could not read all of the run. What it could not read is null or missing. Absent if it read all. */
  unreadable?: string;
}

/** The memo of a run. Clients read it to compare the input of a key without a worker. */
export interface RunMemo {
  input: RunInput;
  /** The id of the schedule that started the run, if a failure pauses that schedule. */
  pausesSchedule?: string;
  /** Who started the run. Absent if a workflow did, and in memos of earlier versions. */
  by?: string;
}

export interface RunProgress {
  result: RunResult;
  waiting: Waiting | null;
  /** The operation in progress. Query that operation for the tries. */
  operation: Execution | null;
}
