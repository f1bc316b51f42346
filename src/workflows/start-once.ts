/** Starts a workflow that outlives this one, under an id that is used once. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { TIMING } from '../contract/timing.ts';

interface Child<I> {
  workflowId: string;
  staticSummary: string;
  staticDetails: string;
  input: I;
}

/** A workflow that was reset has started it before: then it does nothing. */
export async function startOnce<I>(type: string, { input, ...child }: Child<I>): Promise<void> {
  try {
    await startChild(type, {
      ...child,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout: TIMING.worker.workflowTaskMs,
      args: [input],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
