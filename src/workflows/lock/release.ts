/**
 * Locks. The lock of a site or server is the running operation with its id, so it is freed however its holder closes.
 * A run that finds it taken signals the holder (take-lock.ts); the holder, before it returns, the first in the queue.
 */
import { ApplicationFailure } from '@temporalio/common';
import { defineSignal, getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import { SIGNALS, type BackupEnd, type LockReleased, type LockRequested, type Waiter } from '../../contract/run.ts';
import { joinQueue, waitersIn } from '../rules/wait-queue.ts';

export const lockRequestedSignal = defineSignal<[LockRequested]>(SIGNALS.lockRequested);
export const lockReleasedSignal = defineSignal<[LockReleased]>(SIGNALS.lockReleased);

export interface HeldLock {
  /** Hands the lock to the first waiter that is still there, with the rest of the queue. The holder's last act. */
  release(backup: BackupEnd | null): Promise<void>;
}

/** The holder's side: keeps the queue from now on. */
export function holdLock(inherited: readonly Waiter[]): HeldLock {
  const lockId = workflowInfo().workflowId;
  let queue = joinQueue([], inherited);
  setHandler(lockRequestedSignal, (request) => void (queue = joinQueue(queue, waitersIn(request))), {
    description: 'A run asks to be told when this operation ends.',
  });
  return {
    async release(backup) {
      let heir: Waiter | undefined;
      while (queue.length > 0) {
        heir ??= queue.shift();
        if (heir === undefined) return;
        const waiters = queue;
        queue = [];
        const there = await tell(heir, { lockId, waiters, backup });
        // Who came while the heir was told is sent after it.
        if (!there) [heir, queue] = [undefined, joinQueue(waiters, queue)];
      }
    },
  };
}

/** Asks the holder to be told. @returns whether there is one; it may be one that takes no signals any more */
export async function askHolder(lockId: string, { waiters }: LockRequested): Promise<boolean> {
  return (await sent(() => getExternalWorkflowHandle(lockId).signal(lockRequestedSignal, { waiters }))) !== 'absent';
}

/** Tells the first of the queue that is still there. */
export async function passOn(word: LockReleased): Promise<void> {
  const [next, ...rest] = word.waiters;
  if (next !== undefined && !(await tell(next, { ...word, waiters: rest }))) await passOn({ ...word, waiters: rest });
}

async function tell(waiter: Waiter, word: LockReleased): Promise<boolean> {
  const heir = getExternalWorkflowHandle(waiter.workflowId, waiter.runId);
  return (await sent(() => heir.signal(lockReleasedSignal, word))) === 'heard';
}

/** `deaf`: it is there, and has had as many signals as Temporal lets a workflow have. It finds out by its timer. */
async function sent(signal: () => Promise<void>): Promise<'heard' | 'deaf' | 'absent'> {
  try {
    await signal();
    return 'heard';
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    return error.type === 'ExternalWorkflowExecutionNotFound' ? 'absent' : 'deaf';
  }
}
