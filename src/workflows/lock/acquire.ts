/**
 * The waiter's side of a lock. A run acquires a lock by starting the operation with its id. If another run holds it, it asks
 * the holder once for a signal. A terminated holder sends none, so the run also looks now and then whether the holder it
 * asked still holds the lock, which costs the holder nothing.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { CancellationScope, condition, setHandler, workflowInfo } from '@temporalio/workflow';
import type { BackupConclusion, Waiter, LockHolder, LockReleased } from '../../contract/operation.ts';
import type { OperationKind } from '../../contract/sinks.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Waiting } from '../../contract/waiting.ts';
import { joinQueue, releaseIn } from '../../rules/wait-queue.ts';
import { findLockHolder } from '../activity-proxies.ts';
import type { Cancellation } from '../cancellation.ts';
import { hasRoom } from '../history.ts';
import { metrics } from '../metrics.ts';
import { forwardRelease, lockReleasedSignal, requestLock } from './release.ts';

const MAX_STARTS = 10;
const lookAgainMs = () => (hasRoom() ? TIMING.lock.lookAgainMs : TIMING.lock.lookSeldomMs);
const UNKNOWN_HOLDER: LockHolder = { runId: null, isClosed: false, lockedBy: null, acceptsSignals: true };

interface WantedLock<T> {
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
  waiter: Omit<Waiter, 'workflowId' | 'runId' | 'since'>;
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
export type AcquireLock = <T>(wanted: WantedLock<T>) => Promise<LockAttempt<T>>;

interface Mailbox {
  /** The lock that the run waits for. */
  lockId: string | null;
  released: LockReleased | null;
}

/** Handles every release from now on. A release that this run does not wait for is forwarded to the waiters it names. */
export function createLocks(cancellation: Cancellation): AcquireLock {
  const mailbox: Mailbox = { lockId: null, released: null };
  const taken = new Set<string>();

  async function forwardLate(released: LockReleased): Promise<void> {
    // While this run holds the lock, a release would let these waiters overtake its queue: add them to the queue.
    const queued =
      released.backup === null && taken.has(released.lockId) && (await requestLock(released.lockId, released.waiters));
    if (!queued) await forwardRelease(released);
  }

  setHandler(
    lockReleasedSignal,
    async (message) => {
      const released = releaseIn(message);
      // Handlers run outside the run's own scope, and a cancelled run must still forward the release.
      if (released.lockId !== mailbox.lockId) return CancellationScope.nonCancellable(() => forwardLate(released));
      mailbox.released = { ...released, waiters: joinQueue(mailbox.released?.waiters ?? [], released.waiters) };
    },
    { description: 'A lock this run waits for was released to it.' },
  );

  return async (wanted) => {
    const beganMs = Date.now();
    mailbox.lockId = wanted.lockId;
    try {
      const attempt = await queueUp(wanted, mailbox, cancellation);
      if (attempt.kind === 'lock') taken.add(wanted.lockId);
      if (attempt.kind === 'lock' || attempt.kind === 'busy')
        metrics.lockWaited({ operation: wanted.operation, waitedMs: Date.now() - beganMs });
      return attempt;
    } finally {
      mailbox.lockId = null;
      const late = takeReleased(mailbox);
      if (late !== null) await forwardLate(late);
    }
  };
}

function takeReleased(mailbox: Mailbox): LockReleased | null {
  const { released } = mailbox;
  mailbox.released = null;
  return released;
}

async function queueUp<T>(
  wanted: WantedLock<T>,
  mailbox: Mailbox,
  cancellation: Cancellation,
): Promise<LockAttempt<T>> {
  const { lockId, ifBusy, accept, isForOther, onQueued } = wanted;
  const { workflowId, runId } = workflowInfo();
  const me: Waiter = { workflowId, runId, since: new Date().toISOString(), ...wanted.waiter };
  const deadlineMs = Date.now() + wanted.busyTimeoutMs;
  /** The waiters behind this run that no holder knows. */
  let inherited: Waiter[] = [];

  let starts = 1;
  for (;;) {
    const child = await start(starts);
    if (child !== null) return { kind: 'lock', child };
    const released = await awaitRelease();
    if (released === null || 'service' in released) {
      await forwardRelease({ lockId, waiters: inherited, backup: null });
      if (released !== null) return { kind: 'other_service', service: released.service };
      return { kind: cancellation.requested ? 'cancelled' : 'busy' };
    }
    if (released.backup !== null && accept(released.backup)) {
      await forwardRelease(released);
      return { kind: 'backup', conclusion: released.backup };
    }
    inherited = released.waiters;
    // The holder signals before it closes, so the first start after a release may still find the lock taken.
    starts = MAX_STARTS;
  }

  async function start(times: number): Promise<T | null> {
    for (let left = times; left > 0 && !cancellation.requested; left -= 1) {
      try {
        return await wanted.start(inherited);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      if (left > 1)
        await condition(() => cancellation.requested, TIMING.lock.startAgainMs, { summary: `for ${lockId}` });
    }
    return null;
  }

  /** @returns the release; another service, if the lock is held for that; or null if the run waits no longer */
  async function awaitRelease(): Promise<LockReleased | { service: string } | null> {
    /** The holder that knows this run. */
    let asked: LockHolder | null = null;
    /** Whom the last look found as the last holder of a free lock, null for nobody. Undefined if the lock was held. */
    let lastSeenId: LockHolder['runId'] | undefined;
    while (!cancellation.requested && (ifBusy === 'fail' || Date.now() < deadlineMs)) {
      // A lookup that fails counts as unchanged.
      const last = await findLockHolder({ lockId }).catch(() => asked ?? UNKNOWN_HOLDER);
      const holder = last?.isClosed === false ? last : null;
      if (holder?.service !== undefined && isForOther(holder)) return { service: holder.service };
      if (ifBusy === 'fail') return null;
      const queued = holder !== null && (await askOnce(holder, asked));
      if (queued) asked = holder;
      const lastId = last?.runId ?? null;
      // A release may be on its way to the first in the queue, which acquires the lock a moment later. So the lock is free
      // only once two looks in a row find the same last holder, or if this run has asked no holder.
      if (!queued && (lastSeenId === lastId || asked === null)) return { lockId, waiters: inherited, backup: null };
      lastSeenId = queued ? undefined : lastId;
      if (queued) onQueued({ kind: 'lock', lockId, since: me.since, lockedBy: holder.lockedBy });
      const released = await pause(queued ? lookAgainMs() : TIMING.lock.handOverMs);
      if (released !== null) return released;
    }
    return null;
  }

  /** @returns false if the holder has closed */
  async function askOnce(holder: LockHolder, asked: LockHolder | null): Promise<boolean> {
    if (holder.runId === asked?.runId && inherited.length === 0) return true;
    const waiters = joinQueue(inherited, [me]);
    // A holder without room for the request releases the lock without a signal, and the next look finds out.
    if (holder.acceptsSignals && !(await requestLock(lockId, waiters, holder.runId ?? undefined))) return false;
    inherited = [];
    return true;
  }

  async function pause(ms: number): Promise<LockReleased | null> {
    const waitMs = Math.max(1, Math.min(ms, deadlineMs - Date.now()));
    await condition(() => mailbox.released !== null || cancellation.requested, waitMs, { summary: `for ${lockId}` });
    return takeReleased(mailbox);
  }
}
