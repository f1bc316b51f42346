/** The locks that are held now. */
import pMap from 'p-map';
import { TIMING } from '../../contract/timing.ts';
import { IN_PARALLEL, type Session } from '../session.ts';
import { within } from '../within.ts';
import { findLockHolder } from './find-lock-holder.ts';

export interface HeldLock {
  /** Workflow id of the operation that is the lock. */
  lockId: string;
  /** Workflow id of the run that holds it, as far as known. */
  lockedBy: string | null;
}

/** @param lockIds in the order of the answer. @throws BelayError */
export async function heldLocks(session: Session, lockIds: readonly string[]): Promise<HeldLock[]> {
  const look = () => pMap(lockIds, (lockId) => findLockHolder(session.client, lockId), IN_PARALLEL);
  const holders = await within(session, TIMING.client.listMs, 'find locks', look);
  return holders.flatMap((holder, index) =>
    holder === null || holder.isClosed ? [] : [{ lockId: lockIds[index]!, lockedBy: holder.lockedBy }],
  );
}
