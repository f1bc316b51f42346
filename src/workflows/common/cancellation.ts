/**
 * Cancellation as a flag. Operations and runs work in a scope that cannot be cancelled, and check the flag where they
 * wait. That way they record everything they started and release every lock.
 */
import { CancellationScope } from '@temporalio/workflow';

export interface Cancellation {
  readonly requested: boolean;
  /** Resolves on cancellation, for waits that cannot use `condition`. */
  readonly whenRequested: Promise<void>;
}

/** Call it before the first wait, in the workflow's outermost scope. */
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
