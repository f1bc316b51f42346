/** The server's side of updates. It keeps them in memory: in history they are only once they are accepted. */
import type { Commanded, Outcome } from '../core/events.ts';
import type { Run, Update } from './types.ts';

/** Those that the next task brings. A task that was lost has brought none. */
export const newUpdates = ({ updates }: Run): Update[] => updates.filter(({ isAccepted }) => !isAccepted);

export function acceptUpdate(run: Run, updateId: string): void {
  updateOf(run, updateId).isAccepted = true;
}

/** It was completed or rejected. */
export function endUpdate(run: Run, updateId: string, outcome: Outcome): void {
  updateOf(run, updateId).outcome = outcome;
  run.updates = run.updates.filter((it) => it.updateId !== updateId);
}

/** The run has closed. */
export function abortUpdates(run: Run): void {
  for (const it of run.updates.splice(0)) {
    const failure = { message: 'the workflow closed before the update was completed' };
    it.outcome = it.isAccepted ? { failure } : 'absent';
  }
}

/** What the server adds to a command that is to be an event. */
export function filledIn(run: Run, command: Commanded, taskId: number): Commanded {
  const { history } = run;
  if (command.kind === 'updateAccepted') {
    const { updateId, name, input } = updateOf(run, command.updateId);
    const task = history[taskId - 1];
    const afterId = task?.kind === 'taskCompleted' ? task.startedId - 1 : 0;
    return { ...command, request: { updateId, name, input }, afterId };
  }
  if (command.kind !== 'updateCompleted') return command;
  const accepted = history.find((it) => it.kind === 'updateAccepted' && it.updateId === command.updateId);
  return { ...command, acceptedId: accepted?.id ?? 0 };
}

function updateOf({ updates, workflowId }: Run, updateId: string): Update {
  const found = updates.find((it) => it.updateId === updateId);
  if (found === undefined) throw new Error(`${workflowId} has no open update ${updateId}`);
  return found;
}
