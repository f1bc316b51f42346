/** Finds the operation that is a lock now or was the last one, and the run that holds the lock: the operation's parent. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { LockHolder, OperationMemo } from '../../contract/operation.ts';
import { hasRoomForSignals } from './accepts-signals.ts';

/** @returns null if there never was one, as far as Temporal remembers */
export async function findLockHolder({ workflow }: Client, lockId: string): Promise<LockHolder | null> {
  try {
    const description = await workflow.getHandle(lockId).describe();
    const lockedBy = description.raw.workflowExecutionInfo?.parentExecution?.workflowId ?? null;
    const { service } = (description.memo ?? {}) as Partial<OperationMemo>;
    return {
      runId: description.runId,
      isClosed: description.status.name !== 'RUNNING',
      lockedBy,
      acceptsSignals: hasRoomForSignals(description),
      ...(service === undefined ? {} : { service }),
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
