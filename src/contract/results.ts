/** Results in the shape of the contract, before anything is known. */
import { SCHEMA_VERSION } from './names.ts';
import type { RunResult, TriggerReport, DeploymentResult, BackupResult, BackupSource } from './run.ts';
import type { RolloutResult } from '../features/rollouts/shapes.ts';
import { isApp, type Target } from './target.ts';
import { countOutcomes } from './tally.ts';

export const NO_TRIGGER: TriggerReport = { attempts: 0, ambiguous: false, reconciledBy: null };

export function emptyDeployment(target: Target): DeploymentResult {
  return {
    ...named(target),
    outcome: null,
    evidence: null,
    verdictAt: null,
    check: null,
    lastStatus: null,
    polls: 0,
    trigger: { ...NO_TRIGGER },
    startedAt: null,
    acceptedAt: null,
    inProgressAt: null,
    endedAt: null,
    error: null,
  };
}

/** How a result names a target. */
export function named(target: Target): Pick<DeploymentResult, 'target' | 'siteId'> {
  return { target, siteId: isApp(target) ? null : target.id };
}

export function emptyBackup(serverId: string, source: BackupSource | null = null): BackupResult {
  return {
    serverId,
    backupId: null,
    source,
    outcome: null,
    lastStatus: null,
    polls: 0,
    trigger: { ...NO_TRIGGER },
    startedAt: null,
    acceptedAt: null,
    inProgressAt: null,
    endedAt: null,
  };
}

/** @param known the fields that are known already */
export function emptyResult(known: Partial<RunResult> = {}): RunResult {
  return {
    schemaVersion: SCHEMA_VERSION,
    workflowId: null,
    runId: null,
    attached: false,
    service: null,
    outcome: null,
    phase: null,
    backup: null,
    deployments: [],
    error: null,
    supersededBy: null,
    commit: null,
    commitSeen: null,
    held: [],
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
    attached: false,
    service: null,
    name: null,
    fleet: null,
    attempt: 1,
    outcome: null,
    phase: null,
    servers: countOutcomes([]),
    deployments: countOutcomes([]),
    targets: [],
    decisions: [],
    error: null,
    held: [],
    passedWaves: [],
    meta: null,
    links: { ui: null },
    startedAt: null,
    endedAt: null,
    ...known,
  };
}
