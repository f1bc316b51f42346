/** Starts a workflow with its search attributes, if the namespace has them. Without them, a worker sets what it can. */
import type { WorkflowStartOptions } from '@temporalio/client';
import { attributePairs, type Attributes } from '../../request/search-attributes.ts';
import type { Session } from '../session.ts';
import { isAttributeError } from '../transport/grpc-errors.ts';

export async function startWithAttributes<T>(
  { setsAttributes }: Pick<Session, 'setsAttributes'>,
  attributes: Attributes,
  start: (options: Pick<WorkflowStartOptions, 'typedSearchAttributes'>) => Promise<T>,
): Promise<T> {
  if (!setsAttributes) return start({});
  try {
    return await start({ typedSearchAttributes: attributePairs(attributes) });
  } catch (error) {
    if (isAttributeError(error)) return start({});
    throw error;
  }
}
