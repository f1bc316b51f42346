/**
 * Cancellation as a flag. Operations and runs work in a scope that can't be cancelled and look at the flag where they
 * wait, so that whatever was begun is recorded and every lock is handed on.
 */
import { CancellationScope } from '@temporalio/workflow';

export interface Cancellation {
  readonly requested: boolean;
  /** Resolves when it is, for what can't be waited for with a condition. */
  readonly whenRequested: Promise<void>;
}

/** To be called before the first wait, in the workflow's outermost scope. */
export function observeCancellation(): Cancellation {
  let requested = false;
  const whenRequested = CancellationScope.current().cancelRequested.catch(() => void (requested = true));
  return {
    get requested() {
      return requested;
    },
    whenRequested,
  };
}
