/** Finds the run that a workflow is a part of: operations and notifications are its children. */
import { Client, type ConnectionLike } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { NOTIFICATION_TYPE, OPERATION_TYPES } from '../../contract/names.ts';

interface Workflow {
  workflowId: string;
  runId: string;
  type: string;
}

const PARTS_OF_RUNS = [...OPERATION_TYPES, NOTIFICATION_TYPE];
const MAX_REMEMBERED = 10_000;

/** @returns the run id of the run; of the workflow itself, if it belongs to none or Temporal does not answer */
export function createFindRunOf(
  connection: ConnectionLike,
  namespace: string,
): (workflow: Workflow) => Promise<string> {
  const client = new Client({ connection, namespace });
  // A workflow keeps its parent.
  const known = new LRUCache<string, Promise<string>>({ max: MAX_REMEMBERED });

  async function askFor({ workflowId, runId }: Workflow): Promise<string> {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    return raw.workflowExecutionInfo?.parentExecution?.runId ?? runId;
  }

  return (workflow) => {
    const { runId, type } = workflow;
    if (!PARTS_OF_RUNS.includes(type)) return Promise.resolve(runId);
    const asked = known.get(runId) ?? askFor(workflow);
    known.set(runId, asked);
    return asked.catch(() => {
      known.delete(runId);
      return runId;
    });
  };
}
