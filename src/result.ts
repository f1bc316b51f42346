/** The shape of a result, before anything is known. */
import { SCHEMA_VERSION, type RunResult } from './contract.ts';

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
