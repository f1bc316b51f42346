/** Starts child workflows that outlive this one, and tells how a child ended, however it closed. */
import {
  ApplicationFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { concludeInternal, conclude, type Conclusion, type Ended } from './conclusion.ts';
import { TIMING } from '../contract/timing.ts';

/** A child that has been started. */
export interface PendingChild<R> {
  workflowId: string;
  result: () => Promise<R>;
}

/** @param fallback its result if it left none, because it was terminated or timed out */
export async function awaitChild<R extends Pick<Conclusion, 'outcome'>>(
  child: PendingChild<R>,
  fallback: R,
): Promise<Ended<R>> {
  try {
    return { ...(await child.result()), error: null };
  } catch (error) {
    return endOfFailed(child.workflowId, error, fallback);
  }
}

function endOfFailed<R extends Pick<Conclusion, 'outcome'>>(workflowId: string, error: unknown, fallback: R): Ended<R> {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  if (cause instanceof TerminatedFailure) {
    const message = `${workflowId} was terminated before its outcome was known`;
    return { ...fallback, ...conclude('unknown', 'Terminated', message) };
  }
  if (cause instanceof TimeoutFailure) {
    const message = `${workflowId} was ended by a timeout of its workflow, before its outcome was known`;
    return { ...fallback, ...conclude('unknown', 'OutcomeUnknown', message) };
  }
  const result = (cause instanceof ApplicationFailure ? (cause.details?.[0] ?? null) : null) as R | null;
  if (result === null || !(cause instanceof ApplicationFailure)) return { ...fallback, ...concludeInternal(cause) };
  // The failure has the type and message with which the child ended.
  return { ...result, error: { type: cause.type, message: cause.message } as Conclusion['error'] };
}

/* Starts a workflow that outlives this one, under an id that is used once. */

interface Child<I> {
  workflowId: string;
  staticSummary: string;
  staticDetails: string;
  input: I;
}

/** Does nothing if the child exists, because a workflow that was reset has started it before. */
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
