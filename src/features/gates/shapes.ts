/** Gates between the waves of a rollout. Stored in running histories: add, never rename or remove. */
import type { FactName } from '../../contract/facts.ts';
import type { RunError } from '../../contract/run.ts';

/** What a measurement is judged by. Addresses and what proves who asks are in the worker's belay.yaml only. */
export type GateRule = QueryRule | PageRule;

interface GateLimits {
  min?: number;
  max?: number;
}

/** A query of Prometheus. */
interface QueryRule extends GateLimits {
  kind: 'prometheus';
  /** PromQL, with `$hosts`, `$sites`, `$servers`, `$wave` and `$seconds`. */
  query: string;
  /** Without that much of this, there is no data. */
  atLeast?: { query: string; min: number };
}

/** What is expected of a page, as of the page of a site that has a check. */
interface PageRule extends GateLimits {
  kind: 'http';
  status?: string[];
  header?: Record<string, string>;
  body?: string | { not: string };
  json?: Record<string, string>;
  /** Path in the JSON body of the number that the limits are for. */
  value?: string;
  /** Without that much at this path, there is no data. */
  atLeast?: { value: string; min: number };
}

/** A gate, as a worker recorded it when the rollout began. */
export interface GatePlan {
  /** In belay.yaml. */
  name: string;
  rule: GateRule;
  /** The same for the same rule. */
  ruleHash: string;
  /** The words in its queries, without `$`. */
  words: string[];
  initialDelayMs: number;
  intervalMs: number;
  tries: number;
  /** How many good measurements in a row it needs. */
  inARow: number;
  /** How many bad ones there may be. */
  failures: number;
  /** It decides nothing. */
  dryRun: boolean;
}

/** What follows a wave. */
export interface WaveAfter {
  /** How long to wait once all of its servers have ended. */
  bakeMs?: number;
  /** Names of gates. */
  gates?: string[];
}

/** What to do after gates. */
export interface OnGates {
  /** Default: as `onFailures`. */
  failed?: 'pause' | 'stop';
  /** Default `pause`. */
  inconclusive?: 'pause' | 'stop';
  /** How long an inconclusive gate may keep the rollout paused; default 24 hours. */
  patienceMs?: number;
}

/** What has to pass after a wave. */
export interface WaveGates {
  wave: string;
  bakeMs: number;
  gates: GatePlan[];
}

/** What a worker answers to a rollout that begins. */
export type GatesAnswer = { waves: WaveGates[]; on: Required<OnGates> } | { error: RunError };

export interface GateQuestion {
  service: string;
  gate: GatePlan;
  about: GateSubject;
}

/** What the words in a query stand for. A list is empty if no query has its word. */
export interface GateSubject {
  wave: string;
  serverIds: string[];
  siteIds: string[];
  /** Since the first request to deploy a site of the wave. */
  seconds: number;
}

/**
 * `none`: there is no data. `error`: no answer that says anything. `refused`: the query is not one that can be asked.
 */
export interface Measurement {
  state: 'good' | 'bad' | 'none' | 'error' | 'refused';
  /** As Prometheus or the page writes numbers, `NaN` and `+Inf` among them; null if there is none. */
  value: string | null;
  /** In words, with the limit that is not kept. */
  text: string;
}

/** A wave bakes, or its gates are measured. */
export interface WaitingForGates {
  kind: 'gate';
  wave: string;
  /** Until then, it bakes. */
  bakesUntil: string | null;
  /** Those that are not decided yet. */
  gates: GateProgress[];
  /** The gates that could not be judged, and are measured on while the rollout is paused. */
  inconclusive: string[];
  since: string;
}

export interface GateProgress {
  gate: string;
  try: number;
  tries: number;
  goodInARow: number;
  /** How many it needs. */
  inARow: number;
  /** What was measured last; null before. */
  last: string | null;
  nextAt: string;
}

/** Only of a rollout, and if something follows one of its waves. */
export const GATES_FACT: FactName<GatesAnswer> = { name: 'gates' };
