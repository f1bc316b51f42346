/** Tries until a part that a worker needs is there. The worker stays alive meanwhile, and polls nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { TIMING } from '../contract/timing.ts';
import type { Logger } from '../process/log.ts';

/** @returns what is ready, or why it is not */
type Attempt<T> = () => Promise<{ ready: T } | { problem: string }>;

/** @throws AbortError once `stopped` */
export async function untilReady<T>(attempt: Attempt<T>, log: Logger, stopped?: AbortSignal): Promise<T> {
  for (let pauseMs: number = TIMING.worker.retryMs; ; pauseMs = Math.min(2 * pauseMs, TIMING.worker.maxRetryMs)) {
    const result = await attempt();
    if ('ready' in result) return result.ready;
    log.warn(`not ready: ${result.problem}; trying again in ${pauseMs / 1000} s`);
    await sleep(pauseMs, undefined, { signal: stopped });
  }
}
