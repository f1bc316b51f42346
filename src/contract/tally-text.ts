/** Counts of outcomes as text. Pure. */
import type { RolloutPhase, OutcomeCounts } from '../features/rollouts/shapes.ts';

/** `1 server`, `2 servers`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

/** Servers that have not started; while a rollout is stopping, they never will. */
export const pendingText = (phase: RolloutPhase | null): string => (phase === 'stopping' ? 'not starting' : 'pending');

/** `97 completed, 3 failed`. @param phase of a rollout */
export function countsText(outcomes: OutcomeCounts, phase: RolloutPhase | null = null): string {
  const counts = Object.entries(outcomes).filter(([, count]) => count > 0);
  const nameOf = (name: string) => (name === 'pending' ? pendingText(phase) : name);
  return counts.map(([name, count]) => `${count} ${nameOf(name).replaceAll('_', ' ')}`).join(', ') || 'none';
}
