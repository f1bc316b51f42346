/** Temporal's lists of workflows: what is asked, and in which order it is given. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { Session } from '../session.ts';

/** Temporal gives the open ones first, and then by their end: those it begins with are the newest, not in order. */
export async function newest({ client }: Session, query: string, limit: number): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const info of client.workflow.list({ query, pageSize: Math.min(limit, 100) })) {
    if (found.push(info) >= limit) break;
  }
  return found.sort((a, b) => b.startTime.getTime() - a.startTime.getTime());
}

/** A string of Temporal's list filters. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
