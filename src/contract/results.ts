/** Makes results in the shape of the contract, before anything is known, and counts their outcomes. */
import { SCHEMA_VERSION, OUTCOMES, type Outcome } from './names.ts';
import type { RunResult, TriggerReport, DeploymentResult, BackupResult, BackupSource } from './run.ts';
import type { RolloutResult, OutcomeCounts, TargetResult, RolloutPhase } from '../features/rollouts/shapes.ts';
import { isApp, type Target } from './target.ts';

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

/** Returns the fields by which a result names a target. */
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

/** @param known fields that are already known */
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

/* Counts the servers and deployments of a rollout by outcome. Pure. */

export const isRunning = ({ startedAt, outcome }: TargetResult): boolean => startedAt !== null && outcome === null;

export const isPending = ({ startedAt, outcome }: TargetResult): boolean => startedAt === null && outcome === null;

export function countOutcomes(parts: readonly { outcome: Outcome | null; isRunning: boolean }[]): OutcomeCounts {
  const counts = Object.fromEntries([...OUTCOMES, 'running', 'pending'].map((name) => [name, 0])) as OutcomeCounts;
  for (const { outcome, isRunning } of parts) counts[outcome ?? (isRunning ? 'running' : 'pending')] += 1;
  return counts;
}

export function countTargets(targets: readonly TargetResult[]): { servers: OutcomeCounts; deployments: OutcomeCounts } {
  return {
    servers: countOutcomes(targets.map((it) => ({ outcome: it.outcome, isRunning: isRunning(it) }))),
    deployments: countOutcomes(
      targets.flatMap((it) => it.deployments.map(({ outcome }) => ({ outcome, isRunning: isRunning(it) }))),
    ),
  };
}

/** Puts the parts that are not completed first. */
export function worstFirst<T extends { outcome: Outcome | null }>(parts: readonly T[]): T[] {
  const isCompleted = ({ outcome }: T) => outcome === 'completed';
  return [...parts.filter((it) => !isCompleted(it)), ...parts.filter(isCompleted)];
}

/** `1 server`, `2 servers`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

/** While a rollout is stopping, servers that have not started never will. */
export const pendingText = (phase: RolloutPhase | null): string => (phase === 'stopping' ? 'not starting' : 'pending');

/** `97 completed, 3 failed`. @param phase of a rollout */
export function countsText(outcomes: OutcomeCounts, phase: RolloutPhase | null = null): string {
  const counts = Object.entries(outcomes).filter(([, count]) => count > 0);
  const nameOf = (name: string) => (name === 'pending' ? pendingText(phase) : name);
  return counts.map(([name, count]) => `${count} ${nameOf(name).replaceAll('_', ' ')}`).join(', ') || 'none';
}
