/** Counts the servers and deployments of a rollout by outcome. Pure. */
import { OUTCOMES, type Outcome } from './names.ts';
import type { OutcomeCounts, TargetResult } from '../features/rollouts/shapes.ts';

export const isRunning = ({ startedAt, outcome }: TargetResult): boolean => startedAt !== null && outcome === null;

export const isPending = ({ startedAt, outcome }: TargetResult): boolean => startedAt === null && outcome === null;

export function countOutcomes(parts: readonly { outcome: Outcome | null; isRunning: boolean }[]): OutcomeCounts {
  const counts = Object.fromEntries([...OUTCOMES, 'running', 'pending'].map((name) => [name, 0])) as OutcomeCounts;
  for (const { outcome, isRunning } of parts) counts[outcome ?? (isRunning ? 'running' : 'pending')] += 1;
  return counts;
}

/** @returns the counts of servers and of deployments */
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
