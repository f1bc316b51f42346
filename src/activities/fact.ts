/** One question to the configuration of a worker about a request that begins. */
import type { RunPlan } from '../contract/run.ts';
import type { WorkerInfo, WorkflowRequest } from '../contract/activities.ts';
import type { FactName } from '../contract/facts.ts';
import type { Judges } from './features.ts';
import type { Policy } from '../config/policy.ts';

export interface Asked {
  /** It was checked. */
  request: WorkflowRequest;
  plan: RunPlan;
  /** False: nothing starts yet, as when a schedule is checked. */
  begins: boolean;
  /** When it asks, by Temporal's clock. */
  atMs: number;
}

/** What the answer comes from. */
export interface Known extends Judges {
  policy: Policy;
  workerInfo: WorkerInfo;
}

export interface Fact<T = unknown> extends FactName<T> {
  /** @returns undefined if there is nothing to say. @throws Error that is retried if this worker cannot tell */
  ask: (asked: Asked, known: Known) => T | undefined | Promise<T | undefined>;
  /** Why the request makes no sense with this configuration, or null. */
  misuse?: (asked: Asked, known: Known) => string | null;
}
