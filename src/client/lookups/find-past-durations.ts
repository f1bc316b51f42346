/** How long earlier operations under the same lock took. The list of workflows lags, so the last ones may be missing. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { PastQuery } from '../../contract/activities.ts';
import { timeToEnd } from '../../rules/past/observe.ts';
import { quoted } from '../connection/list-filter.ts';
import { CLOSED, createPastReader, serviceOf, type OperationResult } from '../past/past-operations.ts';

/** @returns the newest first, in milliseconds since the acceptance; null for an operation that did not end in time */
export function createFindPastDurations(client: Client) {
  const read = createPastReader(client, durationIn);

  return async ({ lockId, services, limit }: PastQuery): Promise<(number | null)[]> => {
    const query = `WorkflowId = ${quoted(lockId)} AND ${CLOSED}`;
    const operations: WorkflowExecutionInfo[] = [];
    for await (const operation of client.workflow.list({ query, pageSize: limit })) {
      if (services.includes(serviceOf(operation))) operations.push(operation);
      if (operations.length >= limit) break;
    }
    return (await read(operations)).filter((it) => it !== undefined);
  };
}

/** Undefined if the result does not tell when it ended. */
function durationIn(result: OperationResult | null): number | null | undefined {
  if (result === null) return undefined;
  return result.outcome === 'timed_out' ? null : (timeToEnd(result) ?? undefined);
}
