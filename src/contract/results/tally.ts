/** The servers of a rollout: how far they are, and how many have which outcome. Pure. */
import { OUTCOMES, type Outcome } from '../run.ts';
import type { RolloutPhase, Sum, TargetResult } from '../rollout.ts';

export const isRunning = ({ startedAt, outcome }: TargetResult): boolean => startedAt !== null && outcome === null;

export const isToCome = ({ startedAt, outcome }: TargetResult): boolean => startedAt === null && outcome === null;

export function sumOf(parts: readonly { outcome: Outcome | null; isRunning: boolean }[]): Sum {
  const sum = Object.fromEntries([...OUTCOMES, 'running', 'to_come'].map((name) => [name, 0])) as Sum;
  for (const { outcome, isRunning } of parts) sum[outcome ?? (isRunning ? 'running' : 'to_come')] += 1;
  return sum;
}

/** @returns of the servers, and of the deployments */
export function sumsOf(targets: readonly TargetResult[]): { servers: Sum; deployments: Sum } {
  return {
    servers: sumOf(targets.map((it) => ({ outcome: it.outcome, isRunning: isRunning(it) }))),
    deployments: sumOf(
      targets.flatMap((it) => it.deployments.map(({ outcome }) => ({ outcome, isRunning: isRunning(it) }))),
    ),
  };
}

/** Those that are not completed come first. */
export function worstFirst<T extends { outcome: Outcome | null }>(parts: readonly T[]): T[] {
  const isCompleted = ({ outcome }: T) => outcome === 'completed';
  return [...parts.filter((it) => !isCompleted(it)), ...parts.filter(isCompleted)];
}

/** Where a rollout stops nothing is to come. */
export const toComeText = (phase: RolloutPhase | null): string => (phase === 'stopping' ? 'not to begin' : 'to come');

/** `97 completed, 3 failed`. @param phase of a rollout */
export function sumText(sum: Sum, phase: RolloutPhase | null = null): string {
  const counts = Object.entries(sum).filter(([, count]) => count > 0);
  const nameOf = (name: string) => (name === 'to_come' ? toComeText(phase) : name);
  return counts.map(([name, count]) => `${count} ${nameOf(name).replaceAll('_', ' ')}`).join(', ') || 'none';
}
