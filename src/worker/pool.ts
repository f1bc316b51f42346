/** The pooled waits of this worker sleep here until it stops. */
import type { Pool } from '../activities/pooled-wait.ts';
import { createLeastDifference, MEMORY_MS } from './least-difference.ts';

export interface WorkerPool extends Pool {
  /** Wakes all waits, so that other workers continue them. */
  leave(): void;
}

/**
 * @param temporalNowMs asks Temporal for the time, because an attempt alone does not tell how late its worker takes it
 */
export function createPool(
  temporalNowMs: () => Promise<number>,
  clockMs: () => number = () => performance.now(),
): WorkerPool {
  const difference = createLeastDifference(clockMs);
  const wakes = new Set<() => void>();
  let isLeaving = false;
  let apartMs = 0;
  let askedAtMs = -Infinity;
  let answered = Promise.resolve();
  const nowMs = () => clockMs() - apartMs;

  function askIfForgotten(): Promise<void> {
    if (clockMs() - askedAtMs < MEMORY_MS) return answered;
    askedAtMs = clockMs();
    answered = temporalNowMs().then(
      (temporalMs) => difference.note(clockMs() - temporalMs),
      // Make do with the times of attempts.
      () => undefined,
    );
    return answered;
  }

  return {
    async begun(scheduledMs) {
      difference.note(clockMs() - scheduledMs);
      await askIfForgotten();
      apartMs = difference.leastMs();
    },
    nowMs,
    sleepUntil: (atMs) =>
      new Promise((resolve) => {
        if (isLeaving) {
          resolve(false);
          return;
        }
        const wake = () => {
          clearTimeout(timer);
          wakes.delete(wake);
          resolve(!isLeaving);
        };
        const timer = setTimeout(wake, Math.max(0, Math.ceil(atMs - nowMs())));
        wakes.add(wake);
      }),
    leave() {
      isLeaving = true;
      for (const wake of wakes) wake();
    },
  };
}
