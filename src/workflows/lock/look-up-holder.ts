/** Looks up who holds a lock. It sends the holder nothing. */
import type { LockHolder } from '../../contract/operation.ts';
import { findLockHolder } from '../activity-proxies.ts';

/** @param asked the holder as known; a lookup that fails counts as unchanged @returns null if there never was one */
export async function lookUpHolder(lockId: string, asked: LockHolder | null): Promise<LockHolder | null> {
  try {
    return await findLockHolder({ lockId });
  } catch {
    return asked ?? { runId: null, isClosed: false, lockedBy: null, acceptsSignals: true };
  }
}
