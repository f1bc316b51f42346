import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';

/** What an operator does in the UI: everything after the first workflow task is done again. @returns the new run's id */
export async function resetToBeginning({ workflow, workflowService }: Client, workflowId: string): Promise<string> {
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  const first = events?.find(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  const { runId } = await workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    reason: 'by the operator',
    workflowTaskFinishEventId: first?.eventId ?? null,
    requestId: randomUUID(),
  });
  return runId;
}
