/** Lists the runs and rollouts in flight on a task queue, with one search. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { ROLLOUT_TYPE, RUN_TYPES } from '../../contract/names.ts';
import { quoted } from '../../client/list-filter.ts';
import type { Session } from '../../client/session.ts';

/** As many as Temporal lists at once. */
const MOST_LISTED = 1_000;

export interface Listed {
  open: WorkflowExecutionInfo[];
  /** False: there are more. */
  complete: boolean;
}

export async function listOpen({ client, taskQueue }: Session): Promise<Listed> {
  const query = [
    `WorkflowType IN (${[...RUN_TYPES, ROLLOUT_TYPE].map(quoted).join(', ')})`,
    `TaskQueue = ${quoted(taskQueue)}`,
    `ExecutionStatus = 'Running'`,
  ].join(' AND ');
  const open: WorkflowExecutionInfo[] = [];
  for await (const info of client.workflow.list({ query, pageSize: MOST_LISTED })) {
    if (open.push(info) >= MOST_LISTED) return { open, complete: false };
  }
  return { open, complete: true };
}
