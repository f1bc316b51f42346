/** What closed operations returned, by one search and a read of each. The list of workflows lags a moment. */
import { WorkflowFailedError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import pMap from 'p-map';
import type { OperationMemo } from '../../contract/operation.ts';
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import { IN_PARALLEL } from '../../client/session.ts';

export type OperationResult = BackupResult | DeploymentResult;

export const CLOSED = `(ExecutionStatus = 'Completed' OR ExecutionStatus = 'Failed')`;

const MAX_REMEMBERED = 10_000;

/** @param reduce what to keep of a result; null if the operation left none */
export function createPastReader<T>(client: Client, reduce: (result: OperationResult | null) => T) {
  // A closed operation does not change.
  const known = new LRUCache<string, { value: T }>({ max: MAX_REMEMBERED });

  async function read({ workflowId, runId }: WorkflowExecutionInfo): Promise<T> {
    const before = known.get(runId);
    if (before !== undefined) return before.value;
    const value = reduce(await resultOf(client, workflowId, runId));
    known.set(runId, { value });
    return value;
  }

  /** @returns in the same order */
  return (operations: readonly WorkflowExecutionInfo[]): Promise<T[]> => pMap(operations, read, IN_PARALLEL);
}

/** The service that the operation was for; empty if it is from before this was recorded. */
export const serviceOf = ({ memo }: WorkflowExecutionInfo): string =>
  ((memo ?? {}) as Partial<OperationMemo>).service ?? '';

async function resultOf(client: Client, workflowId: string, runId: string): Promise<OperationResult | null> {
  try {
    return (await client.workflow.getHandle(workflowId, runId).result()) as OperationResult;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    return cause instanceof ApplicationFailure ? ((cause.details?.[0] ?? null) as OperationResult | null) : null;
  }
}
