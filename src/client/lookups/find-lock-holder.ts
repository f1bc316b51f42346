/** Who holds a lock: the run whose operation has its id. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';

export async function holderOf({ workflow }: Client, lockId: string): Promise<string | null> {
  try {
    const { status, raw } = await workflow.getHandle(lockId).describe();
    const { parentExecution } = raw.workflowExecutionInfo ?? {};
    return status.name === 'RUNNING' ? (parentExecution?.workflowId ?? null) : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
