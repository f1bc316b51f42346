/**
 * Cancellation as a flag. Operations and runs work in a scope that can't be cancelled and look at the flag where they
 * wait, so that whatever was begun is recorded and every lock is handed on.
 */
import { CancellationScope } from '@temporalio/workflow';

export interface Cancellation {
  readonly requested: boolean;
}

/** To be called before the first wait, in the workflow's outermost scope. */
export function observeCancellation(): Cancellation {
  const cancellation = { requested: false };
  CancellationScope.current().cancelRequested.catch(() => (cancellation.requested = true));
  return cancellation;
}
