/** Queries Temporal's list of workflows. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Session } from './session.ts';

/** Temporal lists no more than this many at once. */
const MOST_AT_ONCE = 1_000;

/** Returns the first ones that Temporal lists, or all. */
export async function firstListed(
  { workflow }: Client,
  query: string,
  limit = Infinity,
  pageSize = Math.min(limit, MOST_AT_ONCE),
): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const info of workflow.list({ query, pageSize })) {
    if (found.push(info) >= limit) break;
  }
  return found;
}

/**
 * Returns the newest workflows, the latest start first. Temporal lists the open ones first, then the closed ones by
 * their end.
 */
export async function newest({ client }: Session, query: string, limit: number): Promise<WorkflowExecutionInfo[]> {
  const found = await firstListed(client, query, limit, Math.min(limit, 100));
  return found.sort((a, b) => b.startTime.getTime() - a.startTime.getTime());
}

export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/* Conditions of a query. */

export const RUNNING = `ExecutionStatus = 'Running'`;
export const onQueue = (taskQueue: string): string => `TaskQueue = ${quoted(taskQueue)}`;
export const ofType = (type: string): string => `WorkflowType = ${quoted(type)}`;
export const ofTypes = (types: readonly string[]): string => `WorkflowType IN (${types.map(quoted).join(', ')})`;

/** SQL databases take a workflow that runs for one that closes in the year 9999. @param since ISO 8601 */
export const closedAtOrAfter = (since: string): string =>
  `CloseTime >= ${quoted(since)} AND ExecutionStatus != 'Running'`;
