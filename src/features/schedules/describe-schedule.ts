/** Describes a schedule, also while Temporal repairs it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScheduleDescription } from '@temporalio/client';
import { TIMING } from '../../contract/timing.ts';
import { codeOf, GRPC, grpcCause } from '../../client/transport/grpc-errors.ts';

/** Within the caller's deadline. @throws as `ScheduleHandle.describe` does */
export async function describeSchedule(schedule: {
  describe(): Promise<ScheduleDescription>;
}): Promise<ScheduleDescription> {
  for (;;) {
    try {
      return await schedule.describe();
    } catch (error) {
      if (!isBeingRepaired(error)) throw error;
    }
    await sleep(TIMING.client.scheduleRetryMs);
  }
}

/** Temporal keeps a schedule in a workflow, which answers no query until a failed task of it has been repeated. */
function isBeingRepaired(error: unknown): boolean {
  const cause = grpcCause(error);
  return (
    codeOf(cause) === GRPC.failedPrecondition &&
    /task in failed state/i.test(cause instanceof Error ? cause.message : '')
  );
}
