/**
 * Retries of single calls to Temporal, as the SDK makes them, but ended before the connection is closed: the SDK's own
 * would go on into the closed one, and throw where nobody can catch it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

export function createRetries(maxAttempts: number) {
  const { retryableDecider, delayFunction } = defaultGrpcRetryOptions({ maxAttempts });
  let ended = false;
  let lastRetryAtMs = 0;
  const interceptor = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !ended && retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const delayMs = delayFunction(attempt, status);
      lastRetryAtMs = Math.max(lastRetryAtMs, Date.now() + delayMs);
      return delayMs;
    },
  });
  return {
    interceptor,
    /** Resolves when no further call will be made. */
    async end(): Promise<void> {
      ended = true;
      const pendingMs = lastRetryAtMs - Date.now();
      if (pendingMs > 0) await sleep(pendingMs + 1);
    },
  };
}
