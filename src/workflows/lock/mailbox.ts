/** Where a run receives releases of locks. */
import { CancellationScope, setHandler } from '@temporalio/workflow';
import type { LockReleased } from '../../contract/operation.ts';
import { joinQueue, releaseIn } from '../../rules/wait-queue.ts';
import { forwardRelease, lockReleasedSignal, requestLock } from './release.ts';

/** Holds the latest release of the lock that the run waits for. */
export interface LockMailbox {
  lockId: string | null;
  released: LockReleased | null;
  /** Locks this run has acquired. Waiters forwarded to it late belong in their queues. */
  taken: Set<string>;
}

/** Handles every lock release from now on. A release this run does not wait for goes on to the waiters it names. */
export function listenForLocks(): LockMailbox {
  const mailbox: LockMailbox = { lockId: null, released: null, taken: new Set() };
  const description = 'A lock this run waits for was released to it.';
  setHandler(
    lockReleasedSignal,
    async (message) => {
      const released = releaseIn(message);
      // Handlers run outside the run's own scope, and a cancelled run must still forward the release.
      if (released.lockId !== mailbox.lockId)
        return CancellationScope.nonCancellable(() => forwardLate(mailbox, released));
      mailbox.released = { ...released, waiters: joinQueue(mailbox.released?.waiters ?? [], released.waiters) };
    },
    { description },
  );
  return mailbox;
}

export function takeReleased(mailbox: LockMailbox): LockReleased | null {
  const { released } = mailbox;
  mailbox.released = null;
  return released;
}

export async function forwardLate({ taken }: LockMailbox, released: LockReleased): Promise<void> {
  // While this run holds the lock, a release would let these waiters overtake its queue: add them to the queue.
  const queued =
    released.backup === null && taken.has(released.lockId) && (await requestLock(released.lockId, released.waiters));
  if (!queued) await forwardRelease(released);
}
