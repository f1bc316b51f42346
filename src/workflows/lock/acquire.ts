/** Acquires a lock by starting the operation with its id, in the order of the queue if another run holds it. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { condition, workflowInfo } from '@temporalio/workflow';
import type { BackupConclusion, Waiter, LockHolder, LockReleased } from '../../contract/operation.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { OperationKind } from '../../contract/sinks.ts';
import type { RunWork } from '../../features/superseding/shapes.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Waiting } from '../../contract/waiting.ts';
import type { Cancellation } from '../cancellation.ts';
import { metrics } from '../metrics.ts';
import { forwardLate, takeReleased, type LockMailbox } from './mailbox.ts';
import { forwardRelease, requestLock } from './release.ts';
import { joinQueue } from '../../rules/wait-queue.ts';
import { findLockHolder } from '../activity-proxies.ts';

const MAX_STARTS = 10;

export interface WantedLock<T> {
  lockId: string;
  operation: OperationKind;
  /** Starts the operation. @throws WorkflowExecutionAlreadyStartedError if another operation holds the lock */
  start: (waiters: Waiter[]) => Promise<T>;
  ifBusy: 'wait' | 'fail';
  busyTimeoutMs: number;
  /** Whether the result of the holder's backup makes the lock unnecessary. */
  accept: (backup: BackupConclusion) => boolean;
  /** Called after each look at the holder. */
  onQueued: (waiting: Waiting) => void;
  /** What its run is to do, if newer runs may replace it or it replaces older ones. */
  work?: RunWork;
  /** Whether the lock is held for another service, which has a site or server with the same id. */
  isForOther: (held: { service?: string }) => boolean;
}

export type LockAttempt<T> =
  | { kind: 'lock'; child: T }
  /** The holder passed on the result of its backup. Only for a server's lock. */
  | { kind: 'backup'; conclusion: BackupConclusion }
  | { kind: 'busy' }
  | { kind: 'other_service'; service: string }
  | { kind: 'cancelled' };

/** A run waits for one lock at a time. */
export async function acquireLock<T>(
  mailbox: LockMailbox,
  cancellation: Cancellation,
  wanted: WantedLock<T>,
): Promise<LockAttempt<T>> {
  const begunMs = Date.now();
  mailbox.lockId = wanted.lockId;
  try {
    const attempt = await queueUp(mailbox, cancellation, wanted);
    if (attempt.kind === 'lock') {
      mailbox.taken.add(wanted.lockId);
      metrics.lockAcquired({ operation: wanted.operation, waitedMs: Date.now() - begunMs });
    }
    return attempt;
  } finally {
    mailbox.lockId = null;
    const late = takeReleased(mailbox);
    if (late !== null) await forwardLate(mailbox, late);
  }
}

async function queueUp<T>(
  mailbox: LockMailbox,
  cancellation: Cancellation,
  wanted: WantedLock<T>,
): Promise<LockAttempt<T>> {
  const { lockId, accept } = wanted;
  const { workflowId, runId } = workflowInfo();
  const me: Waiter = { workflowId, runId, since: new Date().toISOString(), ...definedFields({ work: wanted.work }) };
  const place: QueuePlace = {
    me,
    inherited: [],
    asked: null,
    otherService: null,
    deadlineMs: Date.now() + wanted.busyTimeoutMs,
  };
  for (let starts = 1; ; starts = MAX_STARTS) {
    const child = await start(wanted, place.inherited, cancellation, starts);
    if (child !== null) return { kind: 'lock', child };
    const released = await awaitRelease(mailbox, cancellation, wanted, place);
    if (released === null) {
      await forwardRelease({ lockId, waiters: place.inherited, backup: null });
      if (place.otherService !== null) return { kind: 'other_service', service: place.otherService };
      return { kind: cancellation.requested ? 'cancelled' : 'busy' };
    }
    if (released.backup !== null && accept(released.backup)) {
      await forwardRelease(released);
      return { kind: 'backup', conclusion: released.backup };
    }
    place.inherited = released.waiters;
    place.asked = null;
  }
}

async function start<T>(
  wanted: WantedLock<T>,
  waiters: Waiter[],
  cancellation: Cancellation,
  starts: number,
): Promise<T | null> {
  for (let left = starts; left > 0 && !cancellation.requested; left -= 1) {
    try {
      return await wanted.start(waiters);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    if (left > 1)
      await condition(() => cancellation.requested, TIMING.lock.startAgainMs, { summary: `for ${wanted.lockId}` });
  }
  return null;
}

/*
 * How a run waits for a lock. It asks a holder once for a signal. A terminated holder sends none, so the
 * run also looks now and then whether the holder it asked still holds the lock, which costs the holder nothing.
 */

/** A run's place in the queue for a lock. */
interface QueuePlace {
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
async function awaitRelease(
  mailbox: LockMailbox,
  cancellation: Cancellation,
  { lockId, ifBusy, onQueued, isForOther }: Omit<WantedLock<unknown>, 'start' | 'accept'>,
  place: QueuePlace,
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
async function askOnce(lockId: string, holder: LockHolder, place: QueuePlace): Promise<boolean> {
  if (holder.runId === place.asked?.runId && place.inherited.length === 0) return true;
  const waiters = joinQueue(place.inherited, [place.me]);
  // A holder without room for the request releases the lock without a signal, and the next look finds out.
  if (holder.acceptsSignals && !(await requestLock(lockId, waiters, holder.runId ?? undefined))) return false;
  place.asked = holder;
  place.inherited = [];
  return true;
}

/* Looks up who holds a lock. It sends the holder nothing. */

/** @param asked the holder as known; a lookup that fails counts as unchanged @returns null if there never was one */
async function lookUpHolder(lockId: string, asked: LockHolder | null): Promise<LockHolder | null> {
  try {
    return await findLockHolder({ lockId });
  } catch {
    return asked ?? { runId: null, isClosed: false, lockedBy: null, acceptsSignals: true };
  }
}
