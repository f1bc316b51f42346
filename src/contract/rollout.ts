/**
 * What crosses Temporal about rollouts and schedules; the rest is in contract.ts, whose rules hold here, too: stored in
 * running histories and in schedules, so only ever add.
 */
import type { Outcome, RunError, RunInput, RunType, Waiting } from './run.ts';

export const ROLLOUT_TYPE = 'rollOut';
export const SCHEDULED_TYPE = 'runScheduled';

// ---- A rollout ---------------------------------------------------------------------------------------------------

/** One server: at most one backup, then its sites. */
export interface RolloutTarget {
  serverId: string;
  siteIds: string[];
  /** Sites that earlier attempts completed: they are not deployed again. */
  done?: string[];
}

/** Begins when the one before is over. */
export interface RolloutWave {
  name: string;
  targets: RolloutTarget[];
}

/** How each server's run goes. */
export type RunOptions = Pick<RunInput, 'backup' | 'deploy' | 'ifBusy' | 'busyTimeoutMs' | 'keepGoing'>;

export interface RolloutInput {
  /** Origin of the service it is meant for; default: that of the worker which takes it. */
  service?: string;
  name: string;
  fleet: string;
  /** Part of the ids of the servers' runs. */
  key: string;
  waves: RolloutWave[];
  /** So many servers at most are under way. */
  maxAtOnce: number;
  /** One more server that isn't `completed` stops the rollout, or pauses it for a decision. */
  maxFailures: number;
  onFailures: 'stop' | 'pause';
  options?: RunOptions;
  /** Default 1; a retry has the next number. */
  attempt?: number;
  /** Of earlier attempts: what is `completed`, and not begun again. */
  before?: TargetResult[];
  heartbeat?: string;
  meta?: Record<string, string>;
}

export interface TargetResult {
  serverId: string;
  wave: string;
  /** Null until it has ended. */
  outcome: Outcome | null;
  /** Its run; null before it began. */
  workflowId: string | null;
  backup: Outcome | null;
  deployments: { siteId: string; outcome: Outcome | null }[];
  error: RunError | null;
  /** The event that keeps it from beginning. */
  heldBy: string | null;
  startedAt: string | null;
  endedAt: string | null;
}

/** `stopping`: what runs may end, nothing begins. */
export type RolloutPhase = 'checking' | 'running' | 'paused' | 'stopping' | 'done';

/** How many have which outcome; `running` and `to_come` have none yet. */
export type Sum = Record<Outcome | 'running' | 'to_come', number>;

export interface Decision {
  at: string;
  what: 'pause' | 'resume' | 'release' | 'abort' | 'hold' | 'stop';
  by: string;
  why: string;
}

/** The result of a rollout, and in flight what is known of it: then `outcome` is null. */
export interface RolloutResult {
  schemaVersion: number;
  workflowId: string | null;
  runId: string | null;
  service: string | null;
  name: string | null;
  fleet: string | null;
  attempt: number;
  outcome: Outcome | null;
  phase: RolloutPhase | null;
  servers: Sum;
  deployments: Sum;
  targets: TargetResult[];
  decisions: Decision[];
  error: RunError | null;
  meta: Record<string, string> | null;
  links: { ui: string | null };
  startedAt: string | null;
  endedAt: string | null;
}

/** What a rollout waits for right now. */
export type RolloutWaiting =
  | { for: 'decision'; by: string; because: string; since: string }
  | {
      for: 'servers';
      running: string[];
      toCome: number;
      maxAtOnce: number;
      /** Why nothing begins any more. */
      stopped?: { by: string; because: string };
    };

export interface RolloutProgress {
  result: RolloutResult;
  waiting: RolloutWaiting | null;
}

/** What a rollout's memo holds. */
export interface RolloutMemo {
  name: string;
  fleet: string;
  attempt: number;
  /** A hash of what the first attempt was asked for, so that a key can be compared. */
  request: string;
  /** Events are told to the rollouts that have their server. */
  servers: string[];
}

/** Updates: a decision about a rollout. Signal `hold`: an event about a server. */
export const ROLLOUT_UPDATES = { pause: 'pause', resume: 'resume', abort: 'abort' } as const;
export const HOLD_SIGNAL = 'hold';

export interface DecisionInput {
  by: string;
  why: string;
  /** Of `resume`: lets this held server begin; without it the rollout goes on. */
  serverId?: string;
}

/** The signal. */
export interface Hold {
  serverId: string;
  /** Workflow id of the event. */
  event: string;
  /** In words. */
  why: string;
}

export interface HoldInput {
  hold: Hold;
  /** Rollouts that were told. */
  except: string[];
}

// ---- Why is it waiting? ------------------------------------------------------------------------------------------

/** The answer of every run, operation and rollout to the query `why`. */
export interface Why {
  sentence: string;
  /** Null where nothing is waited for. */
  waiting: Waiting | RolloutWaiting | null;
}

// ---- A schedule --------------------------------------------------------------------------------------------------

/** What a schedule's action starts: it starts the run or rollout of the slot, once, and ends as that does. */
export interface ScheduledInput {
  fleet: string;
  schedule: string;
  /** As it stands in belay.yaml. */
  when: string;
  timeZone: string;
  slot: Slot;
  /** Where no worker takes it up for longer, nothing is started. */
  catchUpMs: number;
  start: { type: RunType; input: RunInput } | { type: typeof ROLLOUT_TYPE; input: Omit<RolloutInput, 'key'> };
}

/**
 * What happens once: `day`, one time of a local day; `time`, one of several; `instant`, every firing. `times` are
 * those of a day, `02:30`; a firing at no such time was asked for by hand.
 */
export interface Slot {
  once: 'day' | 'time' | 'instant';
  times: string[];
}

export interface ScheduledResult {
  /** Of the run or rollout. */
  workflowId: string;
  /** Whether it was there before: its slot had been taken. */
  already: boolean;
  outcome: Outcome | null;
}
