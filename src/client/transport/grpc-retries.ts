/**
 * Retries single calls to Temporal as the SDK does, but stops before the connection is closed. The SDK's own retries
 * would continue on the closed connection, and throw where no code can catch the error.
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
    /** Stops retrying. Resolves when no further call will be made. */
    async end(): Promise<void> {
      ended = true;
      const pendingMs = lastRetryAtMs - Date.now();
      if (pendingMs > 0) await sleep(pendingMs + 1);
    },
  };
}
