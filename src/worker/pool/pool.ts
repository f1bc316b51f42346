/** Where the pooled waits of this worker sleep, until it stops. */
import type { Pool } from '../../activities/pooled-waits/poll-while-in-progress.ts';
import { createLeastDifference } from '../clock/least-difference.ts';

export interface WorkerPool extends Pool {
  /** Wakes all waits, so that other workers go on with them. */
  leave(): void;
}

export function createPool(clockMs: () => number = () => performance.now()): WorkerPool {
  const difference = createLeastDifference(clockMs);
  const wakes = new Set<() => void>();
  let isLeaving = false;
  let apartMs = 0;
  const nowMs = () => clockMs() - apartMs;

  return {
    begun(scheduledMs) {
      difference.note(clockMs() - scheduledMs);
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
