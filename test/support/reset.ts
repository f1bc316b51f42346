import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';

/** Resets a workflow to its first task, as an operator does in the UI. @returns the new run's id */
export const resetToBeginning = (client: Client, workflowId: string): Promise<string> => reset(client, workflowId, 0);

/** Resets a workflow to its last task. @returns the new run's id */
export const resetToEnd = (client: Client, workflowId: string): Promise<string> => reset(client, workflowId, -1);

/** Resets a workflow to the task that asked for its last read. @returns the new run's id */
export const resetToLastRead = (client: Client, workflowId: string, runId: string): Promise<string> =>
  reset(client, workflowId, -2, runId);

async function reset(
  { workflow, workflowService, options }: Client,
  workflowId: string,
  index: number,
  ofRunId?: string,
): Promise<string> {
  const { events } = await workflow.getHandle(workflowId, ofRunId).fetchHistory();
  const tasks = events?.filter(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  const { runId } = await workflowService.resetWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId, runId: ofRunId ?? null },
    reason: 'by the operator',
    workflowTaskFinishEventId: tasks?.at(index)?.eventId ?? null,
    requestId: randomUUID(),
  });
  return runId;
}
