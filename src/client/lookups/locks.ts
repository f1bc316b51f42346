/** Finds the locks that are held now. */
import pMap from 'p-map';
import type { Client } from '@temporalio/client';
import { TIMING } from '../../contract/timing.ts';
import { IN_PARALLEL, type Session } from '../session.ts';
import { unlessMissing } from '../read-workflow.ts';
import { within } from '../within.ts';
import type { LockHolder, OperationMemo } from '../../contract/operation.ts';
import { hasRoomForSignals } from './signals.ts';

export interface HeldLock {
  /** Workflow id of the operation that is the lock. */
  lockId: string;
  /** Workflow id of the run that holds the lock, as far as known. */
  lockedBy: string | null;
}

/** @param lockIds in the order of the answer. @throws BelayError */
export async function heldLocks(session: Session, lockIds: readonly string[]): Promise<HeldLock[]> {
  const look = () => pMap(lockIds, (lockId) => lockHolderOf(session.client, lockId), IN_PARALLEL);
  const holders = await within(session, TIMING.client.listMs, 'find locks', look);
  return holders.flatMap((holder, index) =>
    holder === null || holder.isClosed ? [] : [{ lockId: lockIds[index]!, lockedBy: holder.lockedBy }],
  );
}

/* Finds the operation that is a lock now or was the last one. The run that holds the lock is the operation's parent. */

/** @returns null if Temporal knows no operation with this id */
export async function lockHolderOf({ workflow }: Client, lockId: string): Promise<LockHolder | null> {
  const description = await unlessMissing(workflow.getHandle(lockId).describe());
  if (description === null) return null;
  const lockedBy = description.raw.workflowExecutionInfo?.parentExecution?.workflowId ?? null;
  const { service } = (description.memo ?? {}) as Partial<OperationMemo>;
  return {
    runId: description.runId,
    isClosed: description.status.name !== 'RUNNING',
    lockedBy,
    acceptsSignals: hasRoomForSignals(description),
    ...(service === undefined ? {} : { service }),
  };
}
