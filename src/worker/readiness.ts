/** Whether a worker takes work: it runs, and Temporal keeps seeing its polls. */
import { TIMING } from '../contract/timing.ts';
import type { Logger } from '../process/log.ts';
import type { Polling } from './monitoring.ts';

/** @returns what answers why the worker is not ready, or null */
export function createReadiness(
  polling: () => Polling | null,
  clockMs: () => number = () => performance.now(),
): () => Promise<string | null> {
  let seen: { polledMs: number | null; changedMs: number } = { polledMs: null, changedMs: -Infinity };
  return async () => {
    const current = polling();
    if (current === null) return 'the worker waits for Temporal and for the hosting service';
    const state = current.workers.map((worker) => worker.getState()).find((it) => it !== 'RUNNING');
    if (state !== undefined) return `the worker is ${state.toLowerCase()}`;
    const polledMs = await current.polledMs().catch(() => seen.polledMs);
    const nowMs = clockMs();
    // The clocks may differ, so only a change counts.
    if (polledMs !== seen.polledMs) seen = { polledMs, changedMs: nowMs };
    const isPolling = polledMs !== null && nowMs - seen.changedMs < TIMING.worker.seenWithinMs;
    return isPolling ? null : 'Temporal sees no polls of this worker';
  };
}

/** For whoever reads only the log. @returns a look, of which every fourth one logs that the worker is still not ready */
export function createReadinessLog(problem: () => Promise<string | null>, log: Pick<Logger, 'info' | 'warn'>) {
  let failed = 0;
  return async (): Promise<void> => {
    const why = await problem();
    if (why !== null && failed % TIMING.worker.looksPerLine === 0)
      log.warn(`not ready: ${why}; it continues by itself`);
    if (why === null && failed > 0) log.info('ready again');
    failed = why === null ? 0 : failed + 1;
  };
}
