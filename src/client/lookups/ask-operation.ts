/** What an operation in flight knows, from itself. */
import type { Client } from '@temporalio/client';
import { QUERIES } from '../../contract/names.ts';
import type { Execution, OperationProgress } from '../../contract/operation.ts';

/** @throws Error if it does not answer */
export function askOperation({ workflow }: Client, { workflowId, runId }: Execution): Promise<OperationProgress> {
  return workflow.getHandle(workflowId, runId).query<OperationProgress>(QUERIES.progress);
}
