/** Starts a workflow with its search attributes, if the namespace has them. Without them, a worker sets what it can. */
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { attributePairs, type Attributes } from '../../request/search-attributes.ts';
import { isAttributeError } from '../connection/grpc-errors.ts';

/** Those whose namespace lacks them, as a start has shown. */
const lacking = new WeakSet<Client>();

export async function startWithAttributes<T>(
  client: Client,
  attributes: Attributes,
  start: (options: Pick<WorkflowStartOptions, 'typedSearchAttributes'>) => Promise<T>,
): Promise<T> {
  if (lacking.has(client)) return start({});
  try {
    return await start({ typedSearchAttributes: attributePairs(attributes) });
  } catch (error) {
    if (!isAttributeError(error)) throw error;
    lacking.add(client);
    return start({});
  }
}
