/**
 * The slots for workflow tasks of a worker. A task from the common queue belongs to a run that is not in the cache of
 * this worker, and takes as long as the whole history of the run takes to replay. After a restart every task is of this
 * kind: with many at once, each is late for Temporal, which gives it out again.
 */
import type { CustomSlotSupplier, WorkflowSlotInfo } from '@temporalio/worker';
import { createSlots } from './slots.ts';

/** @param uncached how many of all slots are for runs that are not in the cache */
export function workflowSlots(all: number, uncached: number): CustomSlotSupplier<WorkflowSlotInfo> {
  const free = { all, uncached };
  const use = (isSticky: boolean, count: number) => {
    free.all -= count;
    if (!isSticky) free.uncached -= count;
  };
  return createSlots({
    take({ isSticky }) {
      if (free.all === 0 || (!isSticky && free.uncached === 0)) return null;
      use(isSticky, 1);
      return { isSticky };
    },
    release: ({ isSticky }) => use(isSticky, -1),
  });
}
