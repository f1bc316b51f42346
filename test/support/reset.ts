import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';

/** What an operator does in the UI: everything after the first workflow task is done again. @returns the new run's id */
export const resetToBeginning = (client: Client, workflowId: string): Promise<string> => reset(client, workflowId, 0);

/** The last workflow task is done again. @returns the new run's id */
export const resetToEnd = (client: Client, workflowId: string): Promise<string> => reset(client, workflowId, -1);

async function reset({ workflow, workflowService }: Client, workflowId: string, index: number): Promise<string> {
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  const tasks = events?.filter(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  const { runId } = await workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    reason: 'by the operator',
    workflowTaskFinishEventId: tasks?.at(index)?.eventId ?? null,
    requestId: randomUUID(),
  });
  return runId;
}
