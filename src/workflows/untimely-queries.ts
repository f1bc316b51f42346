/**
 * A query can reach a worker beside events for which no workflow task has started yet. The SDK then runs the code with
 * these events at the time of the task before. The next task keeps what the code decided by that time, and every replay
 * decides by another one, so the workflow would never continue. Therefore such a query fails here, and the worker forgets
 * the execution. Clients ask again (client/ask-again.ts).
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { UNTIMELY_QUERY } from '../contract/names.ts';

export const interceptors = (): WorkflowInterceptors => {
  let before = { events: Infinity, at: '' };
  return {
    internals: [
      {
        activate(input, next) {
          const { historyLength, timestamp, isReplaying } = input.activation;
          const now = { events: Number(historyLength), at: `${String(timestamp?.seconds)}.${timestamp?.nanos}` };
          // Each task starts later than the one before, by nanoseconds at least.
          if (isReplaying !== true && now.events > before.events && now.at === before.at)
            throw new Error(UNTIMELY_QUERY);
          before = now;
          next(input);
        },
      },
    ],
  };
};
