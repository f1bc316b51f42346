/**
 * Retries single calls to Temporal as the SDK does, with two differences. Retries stop before the connection is closed:
 * the SDK's own would continue on the closed connection, and throw where no code can catch the error. And a call that
 * Temporal limits is retried for a minute, without haste: hundreds of CI jobs may start at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AsyncLocalStorage } from 'node:async_hooks';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor, type ConnectionOptions } from '@temporalio/client';
import { TIMING } from '../../contract/timing.ts';
import { isLimited } from './grpc-errors.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

interface Retries {
  interceptor: Interceptor;
  /** Stops retrying. Resolves when no further call will be made. */
  end(): Promise<void>;
}

export function createRetries(maxAttempts: number): Retries {
  const usual = defaultGrpcRetryOptions({ maxAttempts });
  let ended = false;
  let lastRetryAtMs = 0;

  const interceptor: Interceptor = (options, nextCall) => {
    const beganMs = Date.now();
    const deadlineMs = Number(options.deadline ?? Infinity);
    const delay = delayOfScope();
    // Attempts that Temporal limited do not count among the usual ones.
    let limitedTimes = 0;
    const extend = () => void (options.deadline = deadlineMs === Infinity ? Infinity : deadlineMs + delay.ms);
    const retrying = makeGrpcRetryInterceptor({
      retryableDecider(attempt, status) {
        if (ended) return false;
        if (isLimited(status)) return delay.isAllowed && Date.now() - beganMs < TIMING.client.limitedMs;
        return usual.retryableDecider(attempt - limitedTimes, status);
      },
      delayFunction(attempt, status) {
        const delayMs = isLimited(status) ? calmPauseMs((limitedTimes += 1)) : usual.delayFunction(attempt, status);
        lastRetryAtMs = Math.max(lastRetryAtMs, Date.now() + delayMs);
        if (isLimited(status)) delay.ms += delayMs;
        extend();
        return delayMs;
      },
    });
    extend();
    return retrying(options, nextCall);
  };

  return {
    interceptor,
    async end() {
      ended = true;
      const pendingMs = lastRetryAtMs - Date.now();
      if (pendingMs > 0) await sleep(pendingMs + 1);
    },
  };
}

/** The pauses differ widely, because calls that were limited together would otherwise return together. */
function calmPauseMs(times: number): number {
  const longestMs = Math.min(TIMING.client.maxLimitedPauseMs, 1_000 * 2 ** (times - 1));
  return longestMs * (0.5 + Math.random() / 2);
}

/* The time for which Temporal delayed the calls of a scope. It extends the deadline of the scope. */

interface LimitDelay {
  ms: number;
  /** False if a call that Temporal limits fails at once. */
  isAllowed: boolean;
}

const scope = new AsyncLocalStorage<LimitDelay>();

export const waitingAtLimits = <T>(act: () => Promise<T>): Promise<T> => scope.run({ ms: 0, isAllowed: true }, act);

/** Use this for calls that are not worth a wait. */
export const failingAtLimits = <T>(act: () => Promise<T>): Promise<T> => scope.run({ ms: 0, isAllowed: false }, act);

const delayOfScope = (): LimitDelay => scope.getStore() ?? { ms: 0, isAllowed: true };
