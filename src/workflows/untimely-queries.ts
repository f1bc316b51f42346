/**
 * A query can reach a worker beside events for which no workflow task has started yet. The SDK then runs the code with
 * these events at the time of an earlier task. The next task keeps what the code decided by them, and every replay decides
 * at once by all events of that task, so the workflow would never continue. Therefore such a query fails here, and the
 * worker forgets the execution. Clients ask again (client/ask-again.ts).
 *
 * The SDK does not say which events a query brought, so two signs tell. The execution runs at the time of the task before,
 * with more events than that task had. Or, because a task that timed out or failed has a later time, a query follows at
 * once on the first events after a replay: that fails a few queries too many, in the moment after a worker was replaced.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { UNTIMELY_QUERY } from '../contract/names.ts';

export const interceptors = (): WorkflowInterceptors => {
  let task = { events: 0, at: '' };
  /** True while the execution has only been replayed. */
  let isReplayed = false;
  /** How many events there were with the first ones after a replay, until more follow. */
  let firstEvents: number | null = null;
  return {
    internals: [
      {
        activate(input, next) {
          const { historyLength, historySizeBytes, timestamp, isReplaying, jobs } = input.activation;
          const events = Number(historyLength);
          const queries = jobs?.flatMap(({ queryWorkflow }) => queryWorkflow ?? []) ?? [];
          if (queries.length > 0) {
            if (events === firstEvents && queries.some(isWithoutTask)) throw new Error(UNTIMELY_QUERY);
            [isReplayed, firstEvents] = [false, null];
            return next(input);
          }
          // Each task starts later than the one before, by nanoseconds at least, and with a longer history. The time stays
          // if a clock of Temporal goes back, and the size is 0 on old servers.
          const at = [timestamp?.seconds, timestamp?.nanos, historySizeBytes].map(String).join(' ');
          if (at !== task.at) task = { events, at };
          else if (isReplaying !== true && events > task.events) throw new Error(UNTIMELY_QUERY);
          if (isReplaying === true) [isReplayed, firstEvents] = [true, null];
          else if (isReplayed) [isReplayed, firstEvents] = [false, events];
          else if (firstEvents !== null && events > firstEvents) firstEvents = null;
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

/** The SDK gives this id to a query that comes without a workflow task. */
const isWithoutTask = ({ queryId }: { queryId?: string | null }): boolean => queryId === 'legacy_query';

/** The events that say that a task was scheduled, and that it started. */
const DROPPED_EVENTS = 2;
