/**
 * How a run waits for a lock. It asks a holder once for a signal. A terminated holder sends none, so the
 * run also looks now and then whether the holder it asked still holds the lock, which costs the holder nothing.
 */
import { condition } from '@temporalio/workflow';
import type { LockHolder, LockReleased, Waiter } from '../../contract/operation.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Cancellation } from '../cancellation.ts';
import { joinQueue } from '../../rules/wait-queue.ts';
import type { WantedLock } from './acquire.ts';
import { lookUpHolder } from './look-up-holder.ts';
import { takeReleased, type LockMailbox } from './mailbox.ts';
import { requestLock } from './release.ts';

/** A run's place in the queue for a lock. */
export interface Place {
  me: Waiter;
  /** The waiters behind this run that no holder knows. */
  inherited: Waiter[];
  /** The holder that knows this run. */
  asked: LockHolder | null;
  deadlineMs: number;
  /** The service the lock is held for, if it is another one. */
  otherService: string | null;
}

/** @returns null if the run waits no longer */
export async function awaitRelease(
  mailbox: LockMailbox,
  cancellation: Cancellation,
  { lockId, ifBusy, onQueued, isForOther }: Omit<WantedLock<unknown>, 'start' | 'accept'>,
  place: Place,
): Promise<LockReleased | null> {
  const { me, deadlineMs } = place;
  const pause = async (ms: number): Promise<LockReleased | null> => {
    const waitMs = Math.max(1, Math.min(ms, deadlineMs - Date.now()));
    await condition(() => mailbox.released !== null || cancellation.requested, waitMs, { summary: `for ${lockId}` });
    return takeReleased(mailbox);
  };
  /** The last holder, if the lock was free at the last look. */
  let closed: LockHolder['runId'] | undefined;
  while (!cancellation.requested && (ifBusy === 'fail' || Date.now() < deadlineMs)) {
    const last = await lookUpHolder(lockId, place.asked);
    const holder = last?.isClosed === false ? last : null;
    if (holder !== null && isForOther(holder)) {
      place.otherService = holder.service ?? null;
      return null;
    }
    if (ifBusy === 'fail') return null;
    const queued = holder !== null && (await askOnce(lockId, holder, place));
    const lastId = last?.runId ?? null;
    // The holder may have released the lock to the first in its queue, which acquires it a moment later. If another one
    // has held it since, the queue moves on.
    if (!queued && (closed === lastId || place.asked === null))
      return { lockId, waiters: place.inherited, backup: null };
    closed = queued ? undefined : lastId;
    if (queued) onQueued({ kind: 'lock', lockId, since: me.since, lockedBy: holder.lockedBy });
    const released = await pause(queued ? TIMING.lock.lookAgainMs : TIMING.lock.handOverMs);
    if (released !== null) return released;
  }
  return null;
}

/** @returns false if the holder has closed */
async function askOnce(lockId: string, holder: LockHolder, place: Place): Promise<boolean> {
  if (holder.runId === place.asked?.runId && place.inherited.length === 0) return true;
  const waiters = joinQueue(place.inherited, [place.me]);
  // A holder without room for the request releases the lock without a signal, and the next look finds out.
  if (holder.acceptsSignals && !(await requestLock(lockId, waiters, holder.runId ?? undefined))) return false;
  place.asked = holder;
  place.inherited = [];
  return true;
}
