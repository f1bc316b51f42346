/**
 * A query can reach a worker beside events for which no workflow task has started yet. The SDK then runs the code with
 * these events at the time of the task before. The next task keeps what the code decided by that time, and every replay
 * decides by another one, so the workflow would never continue. Therefore such a query fails here, and the worker forgets
 * the execution. Clients ask again (client/ask-again.ts).
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { UNTIMELY_QUERY } from '../contract/names.ts';

export const interceptors = (): WorkflowInterceptors => {
  let task = { events: 0, at: '' };
  return {
    internals: [
      {
        activate(input, next) {
          const { historyLength, historySizeBytes, timestamp, isReplaying } = input.activation;
          // Each task starts later than the one before, by nanoseconds at least, and with a longer history. The time stays
          // if a clock of Temporal goes back, and the size is 0 on old servers.
          const at = [timestamp?.seconds, timestamp?.nanos, historySizeBytes].map(String).join(' ');
          const events = Number(historyLength);
          if (at !== task.at) task = { events, at };
          else if (isReplaying !== true && events > task.events) throw new Error(UNTIMELY_QUERY);
          next(input);
        },
        concludeActivation(input, next) {
          // Temporal drops a task that only refuses updates, so the ids of its two events go to other events.
          const refusals = input.commands.filter(({ updateResponse }) => updateResponse?.rejected);
          if (refusals.length > 0 && refusals.length === input.commands.length) task.events -= DROPPED_EVENTS;
          return next(input);
        },
      },
    ],
  };
};

/** The events that say that a task was scheduled, and that it started. */
const DROPPED_EVENTS = 2;
