/** Finds the run that started an operation, and the rollout that started the run. */
import type { Client } from '@temporalio/client';
import type { StartedBy } from '../../features/approvals/shapes.ts';

/** A run, and its rollout. */
const GENERATIONS = 2;

/** @returns the nearest first */
export async function startedBy({ workflow }: Client, operation: StartedBy): Promise<StartedBy[]> {
  const found: StartedBy[] = [];
  for (let of = operation; found.length < GENERATIONS;) {
    const { raw } = await workflow.getHandle(of.workflowId, of.runId).describe();
    const { workflowId, runId } = raw.workflowExecutionInfo?.parentExecution ?? {};
    if (workflowId == null || runId == null) break;
    of = { workflowId, runId };
    found.push(of);
  }
  return found;
}
