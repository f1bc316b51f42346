/** Queries Temporal's list of workflows. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { ROLLOUT_TYPE, RUN_TYPES } from '../contract/names.ts';
import { leniently } from '../encryption/payload-codec.ts';
import { checkLimit, checkSince } from './check-options.ts';
import type { Session } from './session.ts';

/** Temporal lists no more than this many at once. */
export const MOST_AT_ONCE = 1_000;

export interface Listed extends WorkflowExecutionInfo {
  /** Why this process cannot decode all of it, and lacks a part of the memo. Null if it can. */
  unreadable: string | null;
}

/** What cannot be decoded of one workflow does not fail the whole list. */
export async function* listed(
  { workflow }: Pick<Client, 'workflow'>,
  query: string,
  pageSize = MOST_AT_ONCE,
): AsyncGenerator<Listed, void> {
  const all = workflow.list({ query, pageSize })[Symbol.asyncIterator]();
  for (;;) {
    const { answer, unreadable } = await leniently(() => all.next());
    if (answer.done === true) return;
    yield { ...answer.value, unreadable };
  }
}

/** Returns the first ones that Temporal lists, or all. @param isMeant the others do not count */
export async function firstListed(
  client: Pick<Client, 'workflow'>,
  query: string,
  limit = Infinity,
  pageSize = Math.min(limit, MOST_AT_ONCE),
  isMeant: (info: Listed) => boolean = () => true,
): Promise<Listed[]> {
  const found: Listed[] = [];
  for await (const info of listed(client, query, pageSize)) {
    if (isMeant(info) && found.push(info) >= limit) break;
  }
  return found;
}

/**
 * Returns the newest workflows, the latest start first. Temporal lists the open ones first, then the closed ones by
 * their end.
 *
 * @param since only those started at or after this time, ISO 8601 @param limit default: 20
 * @throws BelayError of type `Usage`
 */
export async function newest(
  { client }: Session,
  query: string,
  { since, limit = 20 }: { since?: string | undefined; limit?: number | undefined },
  isMeant?: (info: Listed) => boolean,
): Promise<Listed[]> {
  checkSince(since);
  checkLimit(limit);
  const started = since === undefined ? query : `${query} AND StartTime >= ${quoted(since)}`;
  const found = await firstListed(client, started, limit, Math.min(limit, 100), isMeant);
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

export const RUNS_AND_ROLLOUTS: readonly string[] = [...RUN_TYPES, ROLLOUT_TYPE];
export const runsAndRolloutsOn = (taskQueue: string): string =>
  `${ofTypes(RUNS_AND_ROLLOUTS)} AND ${onQueue(taskQueue)}`;

/** SQL databases take a workflow that runs for one that closes in the year 9999. @param since ISO 8601 */
export const closedAtOrAfter = (since: string): string =>
  `CloseTime >= ${quoted(since)} AND ExecutionStatus != 'Running'`;
