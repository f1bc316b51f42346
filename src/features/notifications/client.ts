/** Finds how a run ended that may have reported nothing. A run that was terminated leaves no result. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { RunEnd, RunRef } from './shapes.ts';
import { ENDED_FROM_OUTSIDE, statesOf } from './rules.ts';
import type { RunResult } from '../../contract/run.ts';
import { resultLeft } from '../../client/read-workflow.ts';

const OUTSIDE: RunEnd = { run: ENDED_FROM_OUTSIDE, parts: {} };

/** @returns null while the run is in progress */
export async function endOfRun({ workflow }: Client, { workflowId, firstRunId }: RunRef): Promise<RunEnd | null> {
  try {
    const latest = await workflow.getHandle(workflowId).describe();
    // A run that was reset continues under another run id. A run that was started again is another run.
    const isSame = (latest.raw.workflowExecutionInfo?.firstRunId ?? latest.runId) === firstRunId;
    const { status, runId } = isSame ? latest : await workflow.getHandle(workflowId, firstRunId).describe();
    if (status.name === 'RUNNING') return null;
    if (status.name !== 'COMPLETED' && status.name !== 'FAILED') return OUTSIDE;
    const result = await resultLeft<RunResult>(workflow.getHandle(workflowId, runId));
    return result === null ? OUTSIDE : statesOf(result);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return OUTSIDE;
    throw error;
  }
}
