/** What activities need to know about the worker they run in: whether it rests. */
import { ApplicationFailure } from '@temporalio/common';

/** A worker whose own access to the service failed rests: it takes no activities until a read of its own is answered. */
export interface Rest {
  /** Why the worker rests; null if it does not. */
  readonly reason: string | null;
  begin(reason: string): void;
  /** Waits for the first probe of a rest that has just begun. @returns whether the worker may work */
  isOver(): Promise<boolean>;
}

/** For an activity that Temporal gave to the worker just before the rest. Temporal gives it to another worker. */
export function leftToOthers({ reason }: Rest): ApplicationFailure {
  return ApplicationFailure.create({ type: 'Resting', message: restingMessage(reason) });
}

export function restingMessage(reason: string | null): string {
  return `this worker takes no activities: ${reason ?? 'it rests'}`;
}
