/**
 * Cancellation as a flag. Operations and runs work in a scope that cannot be cancelled, and check the flag where they
 * wait. That way they record everything they started and release every lock.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { Conclusion } from './conclusion.ts';

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

/** What ends a run or an operation early: a cancellation, or something that takes its place before it has begun. */
export interface Ending extends Cancellation {
  /** How it ends because something took its place. Null if nothing did. */
  readonly instead: (() => Conclusion) | null;
  readonly hasBegun: boolean;
  /** Does nothing once it has begun. */
  endInstead(conclusion: () => Conclusion): void;
  /** From now on, only a cancellation ends it early. */
  begin(): void;
}

export function observeEnding(cancellation: Cancellation): Ending {
  let instead: Ending['instead'] = null;
  let hasBegun = false;
  let resolve: () => void;
  const replaced = new Promise<void>((it) => (resolve = it));
  return {
    get requested() {
      return instead !== null || cancellation.requested;
    },
    whenRequested: Promise.race([cancellation.whenRequested, replaced]),
    get instead() {
      return instead;
    },
    get hasBegun() {
      return hasBegun;
    },
    endInstead(conclusion) {
      if (hasBegun || instead !== null || cancellation.requested) return;
      instead = conclusion;
      resolve();
    },
    begin: () => (hasBegun = true),
  };
}
