/** The result of a child workflow, however it closed. */
import { ApplicationFailure, ChildWorkflowFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import type { BackupResult } from '../../contract/run.ts';
import { concludeInternal, conclude, type Conclusion } from './conclusion.ts';

export interface ChildConclusion<R> {
  conclusion: Conclusion;
  /** Null if the operation left none, because it was terminated or timed out. */
  result: R | null;
}

/** A child that has been started. */
export interface PendingChild<R> {
  workflowId: string;
  result: () => Promise<R>;
}

/** @returns the child's conclusion, and its result if it left one */
export async function awaitChild<R>(child: PendingChild<R>): Promise<ChildConclusion<R>> {
  try {
    return { conclusion: { outcome: 'completed', error: null }, result: await child.result() };
  } catch (error) {
    return concludeFailedChild<R>(child.workflowId, error);
  }
}

function concludeFailedChild<R>(workflowId: string, error: unknown): ChildConclusion<R> {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  if (cause instanceof TerminatedFailure) {
    return {
      conclusion: conclude('unknown', 'Terminated', `${workflowId} was terminated before its outcome was known`),
      result: null,
    };
  }
  if (cause instanceof TimeoutFailure) {
    const message = `${workflowId} was ended by a timeout of its workflow, before its outcome was known`;
    return { conclusion: conclude('unknown', 'OutcomeUnknown', message), result: null };
  }
  const details = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  const result = (details ?? null) as (R & Pick<BackupResult, 'outcome'>) | null;
  if (result === null || !(cause instanceof ApplicationFailure))
    return { conclusion: concludeInternal(cause), result: null };
  // The failure has the type and message of the operation's own conclusion.
  const conclusion = { outcome: result.outcome, error: { type: cause.type, message: cause.message } } as Conclusion;
  return { conclusion, result };
}
