/** Gates between the waves of a rollout. Running histories store these shapes: add, never rename or remove. */
import type { FactName } from '../../contract/facts.ts';
import type { RunError } from '../../contract/run.ts';

/** How to judge a measurement. Addresses and credentials are only in the worker's belay.yaml. */
export type GateRule = QueryRule | PageRule;

export interface GateLimits {
  min?: number;
  max?: number;
}

export interface QueryRule extends GateLimits {
  kind: 'prometheus';
  /** PromQL, with `$hosts`, `$sites`, `$servers`, `$wave` and `$seconds`. */
  query: string;
  /** There is no data unless this query returns at least `min`. */
  atLeast?: { query: string; min: number };
}

/** What is expected of a page, in the words of a site's check. */
export interface PageRule extends GateLimits {
  kind: 'http';
  status?: readonly string[];
  header?: Record<string, string>;
  body?: string | { not: string };
  json?: Record<string, string>;
  /** The path in the JSON body of the number that `min` and `max` apply to. */
  value?: string;
  /** There is no data unless the number at this path is at least `min`. */
  atLeast?: { value: string; min: number };
}

/** A gate, as a worker recorded it when the rollout began. */
export interface GatePlan {
  name: string;
  rule: GateRule;
  /** Equal rules have equal hashes. */
  ruleHash: string;
  /** The words in its queries, without `$`. */
  words: string[];
  initialDelayMs: number;
  intervalMs: number;
  tries: number;
  /** How many good measurements in a row the gate needs. */
  inARow: number;
  /** How many bad measurements the gate tolerates. */
  failures: number;
  /** A gate with a dry run decides nothing. */
  dryRun: boolean;
}

/** What happens after a wave. */
export interface WaveAfter {
  /** How long to wait once all servers of the wave have ended. */
  bakeMs?: number;
  /** The names of the gates that have to pass. */
  gates?: string[];
}

/** What a rollout does after a gate that has not passed. */
export interface OnGates {
  /** Default: the same as `onFailures`. */
  failed?: 'pause' | 'stop';
  /** Default: `pause`. */
  inconclusive?: 'pause' | 'stop';
  /** How long an inconclusive gate may keep the rollout paused. Default: 24 hours. */
  patienceMs?: number;
}

/** What has to pass after a wave. */
export interface WaveGates {
  wave: string;
  bakeMs: number;
  gates: GatePlan[];
}

export type GatesAnswer = { waves: WaveGates[]; on: Required<OnGates> } | { error: RunError };

export interface GateQuestion {
  service: string;
  gate: GatePlan;
  about: GateSubject;
}

/** What the words in a query stand for. A list is empty if no query uses its word. */
export interface GateSubject {
  wave: string;
  serverIds: string[];
  siteIds: string[];
  /** Seconds since the first request to deploy a site of the wave. */
  seconds: number;
}

/**
 * The states that need explaining are `none`: there is no data, `error`: the answer says nothing, and `refused`: the
 * query itself was refused.
 */
export interface Measurement {
  state: 'good' | 'bad' | 'none' | 'error' | 'refused';
  /** The number as Prometheus or the page writes it, such as `NaN` or `+Inf`. Null if there is none. */
  value: string | null;
  /** The measurement in words, with the limit that it violates. */
  text: string;
}

export type GateVerdict = 'passed' | 'failed' | 'inconclusive';

/** A rollout that lets a wave bake or measures its gates. */
export interface WaitingForGates {
  kind: 'gate';
  wave: string;
  /** The wave bakes until this time. */
  bakesUntil: string | null;
  /** The gates that are not decided yet. */
  gates: GateProgress[];
  /** The gates that could not be judged. They are measured further while the rollout is paused. */
  inconclusive: string[];
  since: string;
}

export interface GateProgress {
  gate: string;
  try: number;
  tries: number;
  goodInARow: number;
  /** How many good measurements in a row the gate needs. */
  inARow: number;
  /** The last measurement in words. Null before the first. */
  last: string | null;
  nextAt: string;
}

/** Workers answer this only to rollouts with gates or a bake time after a wave. */
export const GATES_FACT: FactName<GatesAnswer> = { name: 'gates' };
