/** Whether a workflow was reset. It sends nothing then, because its earlier execution may have sent it. */
import { patched, workflowInfo } from '@temporalio/workflow';
import { conclude, type Conclusion } from './conclusion.ts';

/** For data only: code that decides by it makes other commands than the replayed history has. */
export function isAfterReset(): boolean {
  const { runId, firstExecutionRunId } = workflowInfo();
  return runId !== firstExecutionRunId;
}

/**
 * For decisions: a workflow that was reset must not wait for people. Commands from before the reset must replay as they were
 * made, so the answer is true only from the task in which a marker in history says so.
 */
export const wasReset = (): boolean => isAfterReset() && patched('reset');

/** Whether requests may have been sent before a reset. A watch sends none. */
export const mayHaveSent = (): boolean => workflowInfo().workflowType !== 'watchDeployment' && wasReset();

/** What a workflow did not start may have been started before it was reset. */
export function unlessReset(conclusion: Conclusion): Conclusion {
  const { outcome, error } = conclusion;
  return outcome === 'not_started' && mayHaveSent() ? concludeReset(error?.message) : conclusion;
}

export function concludeReset(reason = 'it has not reached all of its parts again'): Conclusion {
  return conclude('unknown', 'OutcomeUnknown', `the workflow was reset, and may have sent requests before; ${reason}`);
}
