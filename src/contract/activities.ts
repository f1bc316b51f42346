/** What activities take and return. Running histories store these shapes: add, never rename or remove. */
import type { Approved } from '../features/approvals/shapes.ts';
import type { Facts } from './facts.ts';
import type { Deadline } from './operation.ts';
import type { LetOff } from '../features/freezes/shapes.ts';
import type { ROLLOUT_TYPE, RunType } from './names.ts';
import type { RunPlan } from './run.ts';
import type { ServedService } from './service-identity.ts';
import type { Slot } from '../features/schedules/shapes.ts';

export type StatusState = 'completed' | 'failed' | 'in_progress';

/** The result of a read. A failure is a value, because a wait expects failed reads. */
export type ReadAnswer = (StatusAnswer | ReadFailure) & AnsweredAt;

interface AnsweredAt {
  /** When the read was answered or earlier, by Temporal's clock. The workflow may learn of it much later. */
  answeredMs?: number;
}

interface StatusAnswer {
  ok: true;
  status: string;
  /** Only for a deployment, and only if the answer has ids. */
  ids?: DeploymentIds;
}

/** The ids in an answer about a deployment, by the paths of their fields, such as `data.id`. */
export type DeploymentIds = Readonly<Record<string, string>>;

/** What an answer of the latest-deployment endpoint has shown, if it had ids. */
export interface AnswerWithIds {
  readonly ids: DeploymentIds;
  readonly status: string;
  readonly state: StatusState;
}

export interface TriggerAnswer {
  /** Only if the answer has ids. */
  ids?: DeploymentIds;
}

/**
 * Names the field of both answers that has the id of a deployment: its path, or `none`. Absent: fields are found by
 * their names.
 */
export interface DeploymentIdField {
  deploymentId?: string;
}

/** Final words of the service besides `completed` and `failed`. */
export type FinalWords = Record<string, 'completed' | 'failed'>;

/** Recorded with the run, because workers whose configurations differ must not give one word two meanings. */
export interface StatusWords {
  deployment: FinalWords;
  backup: FinalWords;
}

/** An answer with the meaning of its status for the run. */
export type ReadResult = ((StatusAnswer & { state: StatusState }) | ReadFailure) & AnsweredAt;

export interface ReadFailure {
  ok: false;
  /** `not_taken`: no worker took the read, for example while all of them rest. */
  kind: 'http' | 'network' | 'timeout' | 'protocol' | 'other_service' | 'worker' | 'held_back' | 'not_taken';
  httpStatus: number | null;
  /** True if the body is JSON. A 404 from a balancer or proxy seldom is. */
  isJson: boolean;
  retryAfterMs: number | null;
  message: string;
  /**
   * Present if another worker may do better: this worker had no connection or no valid token, or it serves another
   * service.
   */
  ofThisWorker?: true;
}

/**
 * The failures that a trigger throws. Any other failure counts as `Ambiguous`, the only type that may have had an
 * effect.
 */
export type TriggerFailureType =
  | 'Resting'
  | 'HeldBack'
  | 'Stale'
  | 'NotSent'
  | 'Throttled'
  | 'Conflict'
  | 'Refused'
  | 'Ambiguous'
  | 'Reset'
  | 'Restored'
  | 'Frozen'
  | 'NotApproved'
  | 'OutsideInventory'
  | 'ApprovalExpired';

export interface TriggerFailureDetails {
  httpStatus: number | null;
  retryAfterMs: number | null;
  /** When Temporal learned of the request. A workflow knows only when the task that sends it began. */
  scheduledAt?: string;
}

/** What the permits of a POST need to know. The core passes it on, and does not look at it. */
export interface ForPermits {
  /** The one that the run names. */
  fleet?: string;
  /** Freezes and windows that do not hold it back. */
  letOff?: LetOff[];
  /** What people approved. The worker that sends verifies it once more. */
  approved?: Approved[];
}
export const FOR_PERMITS = ['fleet', 'letOff', 'approved'] as const satisfies (keyof ForPermits)[];

export interface TriggerActivityInput extends ForPermits {
  service: string;
  epoch: string;
  idempotencyKey: string;
  /**
   * When the last read before the request was answered, by Temporal's clock. Temporal may learn of the request much
   * later.
   */
  readAt?: string;
  /** After it, a deployment is not requested. Backups have none. */
  deadline?: Deadline;
  /** The run id of the operation's first execution. It reveals a reset execution, which sends nothing. */
  firstRunId: string;
}

/** The request that a workflow was started with. The UI can start a workflow with any input. */
export interface WorkflowRequest {
  type: RunType | typeof ROLLOUT_TYPE;
  input: unknown;
}

/** Either what is wrong with the input, or the plan. The plan of a rollout contains the defaults. */
export type CheckedRequest = { problem: string } | { plan: RunPlan };

export interface WorkerQuestion {
  /** Present if the asking run begins, and takes a place in the admission. */
  begins?: true;
  /** Present if the run has taken its place at another worker. */
  hasPlace?: true;
  request?: WorkflowRequest;
  /** When the workflow asks, in milliseconds since 1970 by Temporal's clock. */
  atMs?: number;
}

export interface WorkerInfo extends ServedService, DeploymentIdField {
  epoch: string;
  statuses: StatusWords;
  /**
   * True if the search attributes are registered. Setting an unknown attribute would fail the workflow task forever.
   */
  searchAttributes: boolean;
  deploysApps?: boolean;
  /** Absent if no notifications are configured. */
  notify?: NotifySettings;
  /** False if the run that asks has to wait for admission. */
  admitted?: false;
  /** Present if the worker was asked to check a request. */
  checked?: CheckedRequest;
  /** The hash of the freezes, windows and checks that the worker applies. */
  policy?: string;
  /** Why the worker's belay.yaml refuses the request of a run or rollout that begins. */
  usageProblem?: string;
  /** What the configuration says about a run or rollout that begins, by the name of the fact. */
  facts?: Facts;
}

/** The notifications in a worker's configuration. It has only names, because the addresses are secrets. */
export interface NotifySettings {
  on: 'failed' | 'all';
  channels: string[];
  heartbeats: string[];
  /** The heartbeats that are also told the start. */
  measured?: string[];
  reports?: string[];
}

export interface ReadInput {
  service: string;
  /** When the read was due, by Temporal's clock, if it was due at a time. The worker measures how late the read is. */
  dueMs?: number;
  /** Present if a resting worker is to give the read back, so that another worker takes it. */
  unlessResting?: true;
}

export interface BackupQuery {
  serverId: string;
  /** Only backups that started at or after this time count. */
  startedSince: string;
}

export interface SlotQuery {
  slot: Slot;
  timeZone: string;
  firedAt: string;
}

/** An activity in progress. Its worker asks Temporal about it. */
export interface ActivityInProgress {
  taskToken: Uint8Array;
  workflowId: string;
  runId: string;
  activityId: string;
  /** By Temporal's clock. */
  scheduledMs: number;
}
