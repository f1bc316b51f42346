/** Telling rollouts in flight that they are not to begin with a server. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { HOLD_SIGNAL, ROLLOUT_TYPE, type HoldInput } from '../fleet-contract.ts';
import { isDeaf } from './errors.ts';

/** Each rollout knows its own servers. @returns the workflow ids of those that were told */
export async function holdServer({ workflow }: Client, input: HoldInput): Promise<string[]> {
  const query = `WorkflowType = '${ROLLOUT_TYPE}' AND ExecutionStatus = 'Running'`;
  const told: string[] = [];
  for await (const { workflowId } of workflow.list({ query })) {
    try {
      await workflow.getHandle(workflowId).signal<[HoldInput]>(HOLD_SIGNAL, input);
      told.push(workflowId);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError || isDeaf(error))) throw error;
    }
  }
  return told;
}
