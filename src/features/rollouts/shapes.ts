/** A rollout: its input, result and messages. Stored in running histories: add, never rename or remove. */
import type { FreezeOverride, Held } from '../freezes/shapes.ts';
import type { OnGates, WaveAfter } from '../gates/shapes.ts';
import type { Outcome } from '../../contract/names.ts';
import type { DailyDeadline, DeploymentResult, RunError, RunInput } from '../../contract/run.ts';
import type { CheckWaiver } from '../site-checks/shapes.ts';
import type { Target, TargetsInput } from '../../contract/target.ts';
import type { RolloutWaiting } from '../../contract/waiting.ts';

/** One server: at most one backup, then its sites and apps. */
export interface RolloutTarget extends TargetsInput {
  serverId: string;
  /** What earlier attempts completed. It is not deployed again. */
  completedTargets?: Target[];
}

/** What a run or rollout is about, server by server. A run may have none. */
export const partsOf = (input: RunInput | RolloutInput): (TargetsInput & { serverId?: string })[] =>
  'waves' in input ? input.waves.flatMap(({ targets }) => targets) : [input];

/** Starts when the previous wave has finished. */
export interface RolloutWave {
  name: string;
  /** An approval of the worker's belay.yaml that is asked for before it starts. */
  approval?: string;
  /** What has to pass once all of its servers have ended. */
  after?: WaveAfter;
  targets: RolloutTarget[];
}

/** The options of each server's run. */
export type RunOptions = Omit<
  RunInput,
  | keyof TargetsInput
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
>;

export interface RolloutInput {
  /** Identity of the service: URL and `#account`. Default: the service of the worker that executes the rollout. */
  service?: string;
  /** The epoch that its starter saw at the workers. In another one it starts nothing. */
  epoch?: string;
  name: string;
  fleet: string;
  /** Becomes part of the ids of the servers' runs. */
  key: string;
  waves: RolloutWave[];
  /** Maximum number of servers in progress at once. */
  maxAtOnce: number;
  /** How many servers may end other than `completed`. The next one stops the rollout, or pauses it for a decision. */
  maxFailures: number;
  onFailures: 'stop' | 'pause';
  /** What follows gates that do not pass. */
  onGates?: OnGates;
  options?: RunOptions;
  /** Start no deployment after this time of day. */
  deploysUntil?: DailyDeadline;
  /** Freezes and windows that do not hold its runs back. */
  override?: FreezeOverride;
  /** Leaves out the checks of its sites. */
  noCheck?: CheckWaiver;
  /** Approvals that have to be given before it starts, besides those that the workers' policy asks for. */
  approval?: string | string[];
  /** Default 1. Each retry has the next number. */
  attempt?: number;
  /** The servers that earlier attempts `completed`. They are not started again. */
  previousResults?: TargetResult[];
  /** Waves whose gates passed, or were let off, in earlier attempts. */
  passedWaves?: string[];
  heartbeat?: string;
  meta?: Record<string, string>;
}

export interface TargetResult {
  serverId: string;
  wave: string;
  /** Null until the server's run has ended. */
  outcome: Outcome | null;
  /** The server's run. Null until it is started. */
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
 * `approval`: people are asked. `gate`: a wave bakes, or is measured. `stopping`: running servers finish, and no more are
 * started.
 */
export type RolloutPhase = 'checking' | 'approval' | 'running' | 'gate' | 'paused' | 'stopping' | 'done';

/** The number of parts with each outcome. Those `running` or `pending` have no outcome yet. */
export type OutcomeCounts = Record<Outcome | 'running' | 'pending', number>;

export interface Decision {
  at: string;
  /** `note`: it changes nothing. */
  action: 'pause' | 'resume' | 'release' | 'abort' | 'hold' | 'stop' | 'note';
  by: string;
  reason: string;
}

/** The result of a rollout. While it is in progress, `outcome` is null and the other fields hold what is known. */
export interface RolloutResult {
  schemaVersion: number;
  workflowId: string | null;
  runId: string | null;
  /** Whether this command or call joined a rollout that another had started. A workflow cannot know, and says false. */
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
  /** What it waited for, in order. Absent in results of earlier versions. */
  held: Held[];
  /** Waves that are followed by gates or a bake and passed them, or were let off. Absent in results of earlier versions. */
  passedWaves: string[];
  meta: Record<string, string> | null;
  links: { ui: string | null };
  startedAt: string | null;
  endedAt: string | null;
}

export interface RolloutProgress {
  result: RolloutResult;
  waiting: RolloutWaiting | null;
}

/** The memo of a rollout. */
export interface RolloutMemo {
  name: string;
  fleet: string;
  attempt: number;
  /** A hash of the first attempt's input, to check that a key is reused with the same input. */
  request: string;
  /** The service it is meant for, if its input names one. */
  service?: string;
  /** Events are sent to the rollouts that include their server. */
  servers: string[];
  /** The id of the schedule that started it, if a failure pauses that schedule. */
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
  /** For people. */
  reason: string;
  /** Every identity of the service that the event is of. Absent in older messages. */
  services?: string[];
}

export interface HoldInput {
  hold: ServerHold;
  /** Ids of rollouts that already received the signal. */
  excludeWorkflowIds: string[];
}
