/** Whether a workflow was reset. It sends nothing then, because its earlier execution may have sent it. */
import { patched, workflowInfo } from '@temporalio/workflow';

/** For data only: code that decides by it makes other commands than the replayed history has. */
export function isAfterReset(): boolean {
  const { runId, firstExecutionRunId } = workflowInfo();
  return runId !== firstExecutionRunId;
}

/**
 * For decisions: a workflow that was reset must not wait for people. What history has from before the reset must replay as
 * it was made, so the answer is true only from the task that a marker in history names.
 */
export const wasReset = (): boolean => isAfterReset() && patched('reset');
