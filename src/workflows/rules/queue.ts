/** The queue of those who wait for a lock: first come, first served, whichever holder they asked. Pure. */
import type { Waiter } from '../../contract.ts';

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
