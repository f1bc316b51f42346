/** Queries Temporal's list of workflows. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { Session } from './session.ts';

/**
 * Returns the newest workflows, the latest start first. Temporal lists the open ones first, then the closed ones by
 * their end.
 */
export async function newest({ client }: Session, query: string, limit: number): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const info of client.workflow.list({ query, pageSize: Math.min(limit, 100) })) {
    if (found.push(info) >= limit) break;
  }
  return found.sort((a, b) => b.startTime.getTime() - a.startTime.getTime());
}

export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** SQL databases take a workflow that runs for one that closes in the year 9999. @param since ISO 8601 */
export const closedAtOrAfter = (since: string): string =>
  `CloseTime >= ${quoted(since)} AND ExecutionStatus != 'Running'`;
