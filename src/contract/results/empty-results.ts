/** The shapes of results, before anything is known. */
import { SCHEMA_VERSION, type RunResult } from '../run.ts';
import type { RolloutResult } from '../rollout.ts';
import { sumOf } from './tally.ts';

/** A result of which nothing is known yet, in the shape of the contract. */
export function emptyResult(known: Partial<RunResult> = {}): RunResult {
  return {
    schemaVersion: SCHEMA_VERSION,
    workflowId: null,
    runId: null,
    service: null,
    outcome: null,
    phase: null,
    backup: null,
    deployments: [],
    error: null,
    meta: null,
    links: { ui: null },
    startedAt: null,
    endedAt: null,
    ...known,
  };
}

export function emptyRollout(known: Partial<RolloutResult> = {}): RolloutResult {
  return {
    schemaVersion: SCHEMA_VERSION,
    workflowId: null,
    runId: null,
    service: null,
    name: null,
    fleet: null,
    attempt: 1,
    outcome: null,
    phase: null,
    servers: sumOf([]),
    deployments: sumOf([]),
    targets: [],
    decisions: [],
    error: null,
    meta: null,
    links: { ui: null },
    startedAt: null,
    endedAt: null,
    ...known,
  };
}
