/**
 * Holds back what a query is answered while a local activity runs. With an answer, core ends the task at once, and may
 * send the result of the local activity with it before the code has seen that result. The code then goes on in the next
 * task, beside whatever else came with that one, but core replays it in the first.
 */
import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';

/** Of a query that comes without a task. Core takes such an answer only alone. */
const WITHOUT_TASK = 'legacy_query';

type Command = Parameters<NonNullable<WorkflowInternalsInterceptor['concludeActivation']>>[0]['commands'][number];

export function holdAnswers(): WorkflowInternalsInterceptor {
  const running = new Set<unknown>();
  /** By the ids of their queries: a query that a task left without an answer comes again with the next one. */
  const held = new Map<string, Command>();
  return {
    activate(input, next) {
      for (const { resolveActivity, queryWorkflow } of input.activation.jobs ?? []) {
        running.delete(resolveActivity?.seq);
        if (queryWorkflow?.queryId === WITHOUT_TASK && running.size > 0) throw lostTask();
      }
      next(input);
    },
    concludeActivation({ commands }, next) {
      const others: Command[] = [];
      for (const command of commands) {
        if (command.scheduleLocalActivity) running.add(command.scheduleLocalActivity.seq);
        const queryId = command.respondToQuery?.queryId ?? WITHOUT_TASK;
        if (queryId === WITHOUT_TASK) others.push(command);
        else held.set(queryId, command);
      }
      if (running.size > 0) return next({ commands: others });
      const answers = [...held.values()];
      held.clear();
      return next({ commands: [...others, ...answers] });
    },
  };
}

/**
 * Core has put the query in the place of the task with the local activity, which now times out, and would give its result
 * to the code in the next task. The failure makes core forget the run, so that the next task replays it from history.
 */
const lostTask = () => new Error('the run was busy with a read: ask again');
