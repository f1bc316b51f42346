/** How long earlier operations under the same lock took. The list of workflows lags, so the last ones may be missing. */
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import type { PastQuery } from '../../contract/activities.ts';
import type { OperationMemo } from '../../contract/operation.ts';
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import { quoted } from '../connection/list-filter.ts';

type Result = BackupResult | DeploymentResult;

/** Null for an operation that did not end in time. Undefined if its result does not tell when it ended. */
type Duration = number | null | undefined;

const MAX_REMEMBERED = 10_000;

/** @returns the newest first, in milliseconds since the acceptance */
export function createFindPastDurations(client: Client) {
  // A closed operation does not change.
  const known = new LRUCache<string, { duration: Duration }>({ max: MAX_REMEMBERED });

  async function durationOf(workflowId: string, runId: string): Promise<Duration> {
    const before = known.get(runId);
    if (before !== undefined) return before.duration;
    const duration = durationIn(await resultOf(client, workflowId, runId));
    known.set(runId, { duration });
    return duration;
  }

  return async ({ lockId, services, limit }: PastQuery): Promise<(number | null)[]> => {
    const query = `WorkflowId = ${quoted(lockId)} AND (ExecutionStatus = 'Completed' OR ExecutionStatus = 'Failed')`;
    const runIds: string[] = [];
    for await (const { runId, memo } of client.workflow.list({ query, pageSize: limit })) {
      const { service = '' } = (memo ?? {}) as Partial<OperationMemo>;
      if (services.includes(service)) runIds.push(runId);
      if (runIds.length >= limit) break;
    }
    const durations = await Promise.all(runIds.map((runId) => durationOf(lockId, runId)));
    return durations.filter((it) => it !== undefined);
  };
}

async function resultOf(client: Client, workflowId: string, runId: string): Promise<Result | null> {
  try {
    return (await client.workflow.getHandle(workflowId, runId).result()) as Result;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    return cause instanceof ApplicationFailure ? ((cause.details?.[0] ?? null) as Result | null) : null;
  }
}

/** It ended between the last read in progress and the read that saw its end: in the middle, for want of better. */
function durationIn(result: Result | null): Duration {
  if (result === null) return undefined;
  const { outcome, acceptedAt, inProgressAt, endedAt, trigger } = result;
  if (outcome === 'timed_out') return null;
  const isEnd = outcome === 'completed' || outcome === 'failed';
  // A request in doubt was found to be accepted some time after it was.
  if (!isEnd || acceptedAt === null || endedAt === null || trigger.reconciledBy !== null) return undefined;
  // Other evidence takes longer than the deployment.
  if ('evidence' in result && result.evidence !== 'transition' && result.evidence !== 'identity') return undefined;
  const lastMs = Date.parse(inProgressAt ?? acceptedAt);
  return (lastMs + Date.parse(endedAt)) / 2 - Date.parse(acceptedAt);
}
