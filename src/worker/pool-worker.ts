/** The part of a worker that makes pooled waits. Each holds its slot for minutes, so they have a queue of their own. */
import { Worker } from '@temporalio/worker';
import { waitTaskQueue } from '../contract/names.ts';
import { type SharedParts, SETTINGS, slotsOfPool } from './settings.ts';
import type { Rest } from './activity-slots.ts';

interface PoolWorkerOptions extends SharedParts {
  rest: Rest;
}

export function createPoolWorker(options: PoolWorkerOptions): Promise<Worker> {
  const {
    taskQueue,
    activities: { pollWhileInProgress },
    rest,
    ...shared
  } = options;
  return Worker.create({
    ...SETTINGS,
    ...shared,
    taskQueue: waitTaskQueue(taskQueue),
    activities: { pollWhileInProgress },
    tuner: slotsOfPool(rest),
  });
}
