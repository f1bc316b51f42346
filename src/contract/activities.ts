/** What activities take and return. Stored in running histories: add, never rename or remove. */
import type { Approved } from '../features/approvals/shapes.ts';
import type { Facts } from './facts.ts';
import type { LetOff } from '../features/freezes/shapes.ts';
import type { ROLLOUT_TYPE, RunType } from './names.ts';
import type { RunPlan } from './run.ts';
import type { ServedService } from './service-identity.ts';
import type { Slot } from '../features/schedules/shapes.ts';

export type StatusState = 'completed' | 'failed' | 'in_progress';

/** What a read returns. A failure is a value, because a wait expects failed reads. */
export type ReadAnswer = (StatusAnswer | ReadFailure) & AnsweredAt;

interface AnsweredAt {
  /** When it was answered, by Temporal's clock, or earlier. The workflow may hear of it much later. */
  answeredMs?: number;
}

interface StatusAnswer {
  ok: true;
  status: string;
  /** Only of a deployment, and only if there are any. */
  ids?: DeploymentIds;
}

/** The ids in an answer about a deployment, by the paths of their fields, such as `data.id`. */
export type DeploymentIds = Readonly<Record<string, string>>;

export interface TriggerAnswer {
  /** Only if there are any. */
  ids?: DeploymentIds;
}

/** Which field of both answers has the id of a deployment: its path, or `none`. Absent: fields are found by their names. */
export interface DeploymentIdField {
  deploymentId?: string;
}

/** Final words of the service besides `completed` and `failed`. */
export type FinalWords = Record<string, 'completed' | 'failed'>;

/** Recorded with the run: workers whose configurations differ must not give one word two meanings. */
export interface StatusWords {
  deployment: FinalWords;
  backup: FinalWords;
}

/** An answer with the meaning that its status has for the run. */
export type ReadResult = ((StatusAnswer & { state: StatusState }) | ReadFailure) & AnsweredAt;

export interface ReadFailure {
  ok: false;
  kind: 'http' | 'network' | 'timeout' | 'protocol' | 'other_service' | 'worker' | 'held_back';
  httpStatus: number | null;
  /** Whether the body is JSON. A 404 of a balancer or proxy seldom is. */
  isJson: boolean;
  retryAfterMs: number | null;
  message: string;
  /** Another worker may do better: this one had no connection, no valid token, or serves another service. */
  ofThisWorker?: true;
}

/** The failures that a trigger throws. Any other failure counts as `Ambiguous`, the only one that may have had an effect. */
export type TriggerFailureType =
  | 'Resting'
  | 'HeldBack'
  | 'Stale'
  | 'NotSent'
  | 'NotReached'
  | 'Throttled'
  | 'Conflict'
  | 'Refused'
  | 'Ambiguous'
  | 'Reset'
  | 'Restored'
  | 'Frozen'
  | 'NotApproved'
  | 'ApprovalExpired';

export interface TriggerFailureDetails {
  httpStatus: number | null;
  retryAfterMs: number | null;
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
  /** When the last read before it was answered, by Temporal's clock, which may learn of the request much later. */
  readAt?: string;
  /** The run id of the operation's first execution. It shows that an execution was reset, which sends nothing. */
  firstRunId: string;
}

/** What a workflow was asked to do. The UI can start one with any input. */
export interface WorkflowRequest {
  type: RunType | typeof ROLLOUT_TYPE;
  input: unknown;
}

/** Either what is wrong with the input, or the plan. That of a rollout has the defaults. */
export type CheckedRequest = { problem: string } | { plan: RunPlan };

export interface WorkerQuestion {
  /** The run that asks begins, and takes a place. */
  begins?: true;
  /** It has taken its place at another worker. */
  hasPlace?: true;
  /** Asks to check this. */
  request?: WorkflowRequest;
  /** When it asks, by Temporal's clock, in milliseconds since 1970. */
  atMs?: number;
}

export interface WorkerInfo extends ServedService, DeploymentIdField {
  epoch: string;
  statuses: StatusWords;
  /** Whether the search attributes are registered. Setting an unknown one would fail the workflow task forever. */
  searchAttributes: boolean;
  /** Whether its belay.yaml has the paths of apps. */
  deploysApps?: boolean;
  /** Absent if no notifications are configured. */
  notify?: NotifySettings;
  /** False: the run that asks has to wait for admission. */
  admitted?: false;
  /** Only if asked. */
  checked?: CheckedRequest;
  /** The hash of the freezes, windows and checks that it applies. */
  policy?: string;
  /** Only if asked by a run or rollout that begins, and if its belay.yaml refuses what was asked: why. */
  usageProblem?: string;
  /** Only if asked by a run or rollout that begins: what the configuration says about it, by name. */
  facts?: Facts;
}

/** The notifications in a worker's configuration. Names only, because the addresses are secrets. */
export interface NotifySettings {
  /** Which runs send a notification when they end. */
  on: 'failed' | 'all';
  channels: string[];
  heartbeats: string[];
  /** Those of the heartbeats that get the start, too. */
  measured?: string[];
  reports?: string[];
}

export interface ReadInput {
  service: string;
  /** When it was due, by Temporal's clock, if it was: the worker measures how late it is. */
  dueMs?: number;
  /** A worker that rests gives it back, for another one. */
  unlessResting?: true;
}

export interface BackupQuery {
  serverId: string;
  /** The backup must have started at or after this time. */
  startedSince: string;
}

export interface SlotQuery {
  slot: Slot;
  timeZone: string;
  firedAt: string;
}

/** An activity that its worker asks Temporal about. */
export interface ActivityInProgress {
  taskToken: Uint8Array;
  workflowId: string;
  runId: string;
  activityId: string;
  /** By Temporal's clock. */
  scheduledMs: number;
}
