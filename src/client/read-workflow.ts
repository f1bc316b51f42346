/** Reads of workflows that may be gone, or have failed. */
import { WorkflowFailedError, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { codeOf, GRPC, isMissingNamespace } from './transport/grpc-errors.ts';

/** @param answer about one workflow @returns null if Temporal does not know the workflow */
export const unlessMissing = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    // The SDK has an error of its own for most calls, but not for a history.
    const isMissing = error instanceof WorkflowNotFoundError || codeOf(error) === GRPC.notFound;
    if (isMissing && !isMissingNamespace(error)) return null;
    throw error;
  });

/** Returns the result of a closed workflow, also if it failed with one. Null if it left none. */
export async function resultLeft<T>(handle: Pick<WorkflowHandle, 'result'>): Promise<T | null> {
  try {
    return (await handle.result()) as T;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return resultIn<T>(error);
    throw error;
  }
}

/** Returns the result that a failed workflow left. Null if it left none. */
export function resultIn<T>({ cause }: WorkflowFailedError): T | null {
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : null;
  return typeof details === 'object' ? (details as T | null) : null;
}
