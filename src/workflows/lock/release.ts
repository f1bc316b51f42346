/**
 * The holder's side of a lock. The lock of a target or server is the running operation with its id, so it is released
 * however the operation closes. A run that finds it taken signals the holder (acquire.ts). Before the holder returns,
 * it signals the first waiter in its queue.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  CancellationScope,
  defineSignal,
  getExternalWorkflowHandle,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { SIGNALS } from '../../contract/names.ts';
import type { BackupConclusion, LockReleased, LockRequested, Waiter } from '../../contract/operation.ts';
import { joinQueue, waitersIn } from '../../rules/wait-queue.ts';

const lockRequestedSignal = defineSignal<[LockRequested]>(SIGNALS.lockRequested);
export const lockReleasedSignal = defineSignal<[LockReleased]>(SIGNALS.lockReleased);

/**
 * Tells the first waiter that takes the signal, and gives it the rest of the queue. It still has to be the first to start
 * its operation. A waiter that takes no more signals leaves the queue; its timer makes up for that. Call it last.
 */
type ReleaseLock = (backup: BackupConclusion | null) => Promise<void>;

/** Decides who stays in a queue, in which order. @returns the queue, and what was sent to those who leave */
export type SettleQueue = (queue: Waiter[]) => { queue: Waiter[]; sent: Promise<void>[] };

export function openLockQueue(inherited: readonly Waiter[], settle: SettleQueue): ReleaseLock {
  const { workflowId: lockId } = workflowInfo();
  let queue: Waiter[] = [];
  const join = async (newcomers: readonly Waiter[]): Promise<void> => {
    const settled = settle(joinQueue(queue, newcomers));
    ({ queue } = settled);
    await Promise.all(settled.sent);
  };
  const joined = CancellationScope.nonCancellable(() => join(inherited));
  setHandler(lockRequestedSignal, (request) => CancellationScope.nonCancellable(() => join(waitersIn(request))), {
    description: 'A run asks for a signal when this operation ends.',
  });
  return async (backup) => {
    await joined;
    let heir: Waiter | null = null;
    while (queue.length > 0) {
      const [first, ...rest] = queue as [Waiter, ...Waiter[]];
      const to: Waiter = heir ?? first;
      const waiters: Waiter[] = heir === null ? rest : queue;
      queue = [];
      // Waiters that arrive meanwhile are in the queue afterwards, and follow to the heir in the next round.
      if (await signalReleased(to, { lockId, waiters, backup })) heir = to;
      else [heir, queue] = [null, joinQueue(waiters, queue)];
    }
  };
}

/** Asks the holder for a signal on release. @returns whether there is a holder, even one at its signal limit */
export async function requestLock(lockId: string, waiters: Waiter[], runId?: string): Promise<boolean> {
  const holder = getExternalWorkflowHandle(lockId, runId);
  return (await signalled(() => holder.signal(lockRequestedSignal, { waiters }))) !== 'absent';
}

/** For a waiter that was told and does not want the lock any more. */
export async function forwardRelease(message: LockReleased): Promise<void> {
  const [next, ...rest] = message.waiters;
  if (next !== undefined && !(await signalReleased(next, { ...message, waiters: rest })))
    await forwardRelease({ ...message, waiters: rest });
}

async function signalReleased(waiter: Waiter, message: LockReleased): Promise<boolean> {
  const handle = getExternalWorkflowHandle(waiter.workflowId, waiter.runId);
  return (await signalled(() => handle.signal(lockReleasedSignal, message))) === 'delivered';
}

/** `rejected`: the workflow exists, but has reached Temporal's signal limit. Its timer makes up for the signal. */
async function signalled(signal: () => Promise<void>): Promise<'delivered' | 'rejected' | 'absent'> {
  try {
    await signal();
    return 'delivered';
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    return error.type === 'ExternalWorkflowExecutionNotFound' ? 'absent' : 'rejected';
  }
}
