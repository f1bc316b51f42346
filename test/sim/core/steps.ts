/** The workflow tasks of a history, with what each was given and what it commanded. */
import { isCommanded, isOfTask, type Commanded, type CommandedEvent, type HistoryEvent } from './events.ts';

export interface Step {
  startedId: number;
  atMs: number;
  incoming: HistoryEvent[];
  /** Null for the task that is to be done now. */
  commanded: CommandedEvent[] | null;
  /** Those of history up to this task. */
  flags: readonly number[];
}

/** The completed tasks after `doneUntilId`, and the one that has just started. */
export function stepsOf(history: readonly HistoryEvent[], doneUntilId: number): Step[] {
  const steps: Step[] = [];
  let incoming: HistoryEvent[] = [];
  let started: HistoryEvent | undefined;
  const completed = new Map<number, Step>();
  let flags: readonly number[] = [];
  for (const event of history) {
    if (isCommanded(event)) completed.get(event.taskId)?.commanded?.push(event);
    else if (!isOfTask(event)) incoming.push(event);
    else if (event.kind === 'taskStarted') started = event;
    else if (event.kind === 'taskCompleted') {
      flags = [...flags, ...event.flags];
      const step: Step = { startedId: started!.id, atMs: started!.atMs, incoming, commanded: [], flags };
      completed.set(event.id, step);
      steps.push(step);
      incoming = [];
      started = undefined;
    } else if (event.kind !== 'taskScheduled') started = undefined;
  }
  if (started !== undefined)
    steps.push({ startedId: started.id, atMs: started.atMs, incoming, commanded: null, flags });
  return steps.filter(({ startedId }) => startedId > doneUntilId);
}

/** The command that made this event. */
export function withoutIds(event: CommandedEvent): Commanded {
  const command: Partial<CommandedEvent & { id: number; atMs: number }> = { ...event };
  for (const name of ['taskId', 'id', 'atMs'] as const) delete command[name];
  // The server fills it in.
  if (command.kind === 'childCancelRequested') command.workflowId = '';
  if (command.kind === 'updateAccepted') Object.assign(command, { request: null, afterId: 0 });
  if (command.kind === 'updateCompleted') command.acceptedId = 0;
  return command as Commanded;
}
