/** A rollout: its input, result and messages. Running histories store these shapes: add, never rename or remove. */
import type { FreezeOverride, Held } from '../freezes/shapes.ts';
import type { OnGates, WaveAfter } from '../gates/shapes.ts';
import type { Outcome } from '../../contract/names.ts';
import type { DailyDeadline, DeploymentResult, RunError, RunInput } from '../../contract/run.ts';
import type { CheckWaiver } from '../site-checks/shapes.ts';
import type { RunParts, Target, TargetsInput } from '../../contract/target.ts';
import type { RolloutWaiting } from '../../contract/waiting.ts';

/** One server: at most one backup, then its sites and apps. */
export interface RolloutTarget extends TargetsInput {
  serverId: string;
  /** Targets that earlier attempts completed. They are not deployed again. */
  completedTargets?: Target[];
}

/** Returns the targets of a run or rollout, server by server. A run may have no server. */
export const partsOf = (input: RunInput | RolloutInput): RunParts[] =>
  'waves' in input
    ? input.waves.flatMap(({ targets }) => targets.map((it) => ({ ...it, fleet: input.fleet })))
    : [input];

/** A wave starts when the previous wave has finished. */
export interface RolloutWave {
  name: string;
  /** The approval in the worker's belay.yaml that people have to give before the wave starts. */
  approval?: string;
  /** What has to pass once all servers of the wave have ended. */
  after?: WaveAfter;
  targets: RolloutTarget[];
}

/** The options of each server's run. A rollout backs up each server, so it takes no `backupId`. */
export type RunOptions = Omit<
  RunInput,
  | keyof TargetsInput
  | 'backup'
  | 'service'
  | 'epoch'
  | 'serverId'
  | 'fleet'
  | 'startWithinMs'
  | 'deploysUntil'
  | 'heartbeat'
  | 'meta'
  | 'override'
  | 'noCheck'
  | 'approval'
  | 'approved'
  | 'letOff'
  | 'supersede'
> & { backup?: Omit<NonNullable<RunInput['backup']>, 'backupId'> };

export interface RolloutInput {
  /** Identity of the service: URL and `#account`. Default: the service of the worker that executes the rollout. */
  service?: string;
  /** The epoch that the starter saw at the workers. In another epoch, the rollout starts nothing. */
  epoch?: string;
  name: string;
  fleet: string;
  /** The key becomes part of the ids of the servers' runs. */
  key: string;
  waves: RolloutWave[];
  /** The maximum number of servers in progress at once. */
  maxAtOnce: number;
  /** How many servers may end other than `completed`. One more stops the rollout, or pauses it for a decision. */
  maxFailures: number;
  onFailures: 'stop' | 'pause';
  /** What to do about gates that do not pass. */
  onGates?: OnGates;
  options?: RunOptions;
  /** The time of day after which no deployment starts. */
  deploysUntil?: DailyDeadline;
  /** Freezes and windows that do not hold back its runs. */
  override?: FreezeOverride;
  /** Leaves out the checks of its sites. */
  noCheck?: CheckWaiver;
  /** Approvals that people have to give before the rollout starts, besides those that the workers' policy asks for. */
  approval?: string | string[];
  /** The number of this attempt. Each retry adds one. Default: 1. */
  attempt?: number;
  /** The servers that earlier attempts `completed`. They are not started again. */
  previousResults?: TargetResult[];
  /** Waves whose gates passed or were overridden in earlier attempts. */
  passedWaves?: string[];
  heartbeat?: string;
  meta?: Record<string, string>;
}

export interface TargetResult {
  serverId: string;
  wave: string;
  /** Null until the server's run has ended. */
  outcome: Outcome | null;
  /** The workflow id of the server's run. Null until the run is started. */
  workflowId: string | null;
  backup: Outcome | null;
  deployments: Pick<DeploymentResult, 'target' | 'siteId' | 'outcome'>[];
  error: RunError | null;
  /** Workflow id of the event that holds the server. */
  heldByEvent: string | null;
  startedAt: string | null;
  endedAt: string | null;
}

/**
 * `approval`: the rollout asks people. `gate`: a wave bakes, or its gates are measured. `stopping`: running servers
 * finish, and no more servers start.
 */
export type RolloutPhase = 'checking' | 'approval' | 'running' | 'gate' | 'paused' | 'stopping' | 'done';

/** The number of parts with each outcome. Parts that are `running` or `pending` have no outcome yet. */
export type OutcomeCounts = Record<Outcome | 'running' | 'pending', number>;

export interface Decision {
  at: string;
  /** A `note` changes nothing. */
  action: 'pause' | 'resume' | 'release' | 'abort' | 'hold' | 'stop' | 'note';
  by: string;
  reason: string;
}

/** The result of a rollout. While it is in progress, `outcome` is null and the other fields hold what is known. */
export interface RolloutResult {
  schemaVersion: number;
  workflowId: string | null;
  runId: string | null;
  /**
   * Whether this command or call joined a rollout that another one had started. A workflow cannot know this, and says
   * false.
   */
  attached: boolean;
  service: string | null;
  name: string | null;
  fleet: string | null;
  attempt: number;
  outcome: Outcome | null;
  phase: RolloutPhase | null;
  servers: OutcomeCounts;
  deployments: OutcomeCounts;
  targets: TargetResult[];
  decisions: Decision[];
  error: RunError | null;
  /** What the rollout waited for, in order. Absent in results of earlier versions. */
  held: Held[];
  /** Waves whose bake and gates passed or were overridden. Absent in results of earlier versions. */
  passedWaves: string[];
  meta: Record<string, string> | null;
  links: { ui: string | null };
  startedAt: string | null;
  endedAt: string | null;
  /** Why a list could not read all of the rollout. What it could not read is null or missing. Absent if it read all. */
  unreadable?: string;
}

export interface RolloutProgress {
  result: RolloutResult;
  waiting: RolloutWaiting | null;
}

export interface RolloutMemo {
  name: string;
  fleet: string;
  attempt: number;
  /** A hash of the first attempt's input, to check that a key is reused with the same input. */
  request: string;
  /** The service that the rollout is meant for, if its input names one. */
  service?: string;
  /** Events are sent only to rollouts that include their server. */
  servers: string[];
  /** The id of the schedule that started the rollout, if a failure pauses that schedule. */
  pausesSchedule?: string;
}

export interface DecisionInput {
  by: string;
  reason: string;
  /** Only for `resume`: releases this held server. Without it, the rollout itself resumes. */
  serverId?: string;
}

/** Payload of the signal `hold`. */
export interface ServerHold {
  serverId: string;
  /** Workflow id of the event. */
  event: string;
  /** The reason, for people. */
  reason: string;
  /** Every identity of the service that sent the event. Absent in older messages. */
  services?: string[];
}

export interface HoldInput {
  hold: ServerHold;
  /** Ids of rollouts that already received the signal. */
  excludeWorkflowIds: string[];
}
