/** Errors of Temporal's schedules, as BelayErrors. */
import { ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import { BelayError } from '../../contract/errors.ts';
import { toBelayError } from '../../client/to-belay-error.ts';

/** The list lags, so the schedule may have been deleted since. */
export function unlessGone(error: unknown): null {
  if (error instanceof ScheduleNotFoundError) return null;
  throw error;
}

export function scheduleError(what: string, error: unknown): BelayError {
  if (error instanceof ScheduleAlreadyRunning) {
    return new BelayError(
      'Usage',
      `cannot ${what}: another user is applying ${error.scheduleId} at the same time; apply again`,
    );
  }
  if (!(error instanceof ScheduleNotFoundError)) return toBelayError(error, what);
  return new BelayError('NotFound', `cannot ${what}: there is no such schedule; \`belay schedule list\` shows them`);
}
