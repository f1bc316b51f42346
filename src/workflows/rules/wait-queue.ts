/** The queue of those who wait for a lock: first come, first served, whichever holder they asked. Pure. */
import type { Waiter } from '../../contract/run.ts';

/** Both queues as one: everybody once, the earliest first. */
export function joinQueue(queue: readonly Waiter[], newcomers: readonly Waiter[]): Waiter[] {
  const byRun = new Map<string, Waiter>();
  for (const waiter of [...queue, ...newcomers]) {
    const known = byRun.get(waiter.runId);
    if (known === undefined || waiter.since < known.since) byRun.set(waiter.runId, waiter);
  }
  return [...byRun.values()].sort((a, b) => compare(a.since, b.since) || compare(a.runId, b.runId));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The waiters in a message. Anybody may send one from the UI: what isn't a waiter is left out, not stumbled over. */
export function waitersIn(message: unknown): Waiter[] {
  const { waiters } = (message ?? {}) as { waiters?: unknown };
  return Array.isArray(waiters) ? waiters.filter(isWaiter) : [];
}

function isWaiter(value: unknown): value is Waiter {
  const { workflowId, runId, since } = (value ?? {}) as Partial<Record<keyof Waiter, unknown>>;
  return [workflowId, runId, since].every((it) => typeof it === 'string');
}
