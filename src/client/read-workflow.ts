/** Reads workflows that may be gone, may have failed, or may be of another type. */
import {
  WorkflowFailedError,
  WorkflowNotFoundError,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { BelayError } from '../contract/errors.ts';
import { codeOf, GRPC, isMissingNamespace } from './transport/grpc-errors.ts';

/** @param answer about one workflow @returns null if Temporal does not know the workflow */
export const unlessMissing = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    // The SDK has an error of its own for most calls, but not for a history.
    const isMissing = error instanceof WorkflowNotFoundError || codeOf(error) === GRPC.notFound;
    if (isMissing && !isMissingNamespace(error)) return null;
    throw error;
  });

/** @param what it has to be, such as `run`. @throws BelayError `NotFound` if the id belongs to something else */
export async function describeOnly(
  handle: WorkflowHandle,
  types: readonly string[],
  { what, remedy }: { what: string; remedy: string },
): Promise<WorkflowExecutionDescription> {
  const described = await handle.describe();
  if (types.includes(described.type)) return described;
  throw new BelayError('NotFound', `${handle.workflowId} is not a ${what} but a ${described.type}: ${remedy}`);
}

/** Returns the result of a closed workflow, or what its failure is read as. */
export const resultOr = <T>(
  handle: Pick<WorkflowHandle, 'result'>,
  read: (failure: WorkflowFailedError) => T | Promise<T>,
): Promise<T> =>
  (handle.result() as Promise<T>).catch((error: unknown) => {
    if (error instanceof WorkflowFailedError) return read(error);
    throw error;
  });

/** Returns the result of a closed workflow, even if it failed with one. Null if it left none. */
export const resultLeft = <T>(handle: Pick<WorkflowHandle, 'result'>): Promise<T | null> =>
  resultOr<T | null>(handle, (failure) => resultIn<T>(failure));

/** Returns the result that a failed workflow left. Null if it left none. */
export function resultIn<T>({ cause }: WorkflowFailedError): T | null {
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : null;
  return typeof details === 'object' ? (details as T | null) : null;
}
