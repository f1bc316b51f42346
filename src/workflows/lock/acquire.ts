/** Taking a lock: the waiter's side. A holder that was terminated tells nobody: a timer stands behind its word. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { CancellationScope, condition, setHandler, workflowInfo } from '@temporalio/workflow';
import type { BackupEnd, LockReleased, Waiter } from '../../contract/run.ts';
import type { Cancellation } from '../common/cancellation.ts';
import { askHolder, lockReleasedSignal, passOn } from './release.ts';
import { joinQueue, waitersIn } from '../rules/wait-queue.ts';

const ASK_AGAIN_MS = 15_000;
/** Between the holder's word and its end pass milliseconds; somebody else may be quicker, too. */
const START_AGAIN_MS = 100;
const MAX_STARTS_PER_TURN = 10;

/** Where the word about the lock that is waited for arrives. */
export interface LockWord {
  lockId: string | null;
  released: LockReleased | null;
  /** The locks this run took: whoever is sent to it late belongs into their queues. */
  taken: Set<string>;
}

export interface WantedLock<T> {
  lockId: string;
  /** Starts the operation. @throws WorkflowExecutionAlreadyStartedError where another one holds the lock */
  start: (waiters: Waiter[]) => Promise<T>;
  ifBusy: 'wait' | 'fail';
  busyTimeoutMs: number;
  /** Whether the word how a holder's backup ended will do in place of the lock. */
  accept: (end: BackupEnd) => boolean;
  onQueued: (since: string) => void;
}

export type Turn<T> =
  | { got: 'lock'; child: T }
  /** A holder ended and told how: a server's lock only. */
  | { got: 'backup'; end: BackupEnd }
  | { got: 'busy' }
  | { got: 'cancelled' };

/** Answers every word about a lock from now on: one this run doesn't wait for is for those in the queue. */
export function hearLocks(): LockWord {
  const word: LockWord = { lockId: null, released: null, taken: new Set() };
  const description = 'A lock this run waits for was released to it.';
  setHandler(
    lockReleasedSignal,
    async (message) => {
      const { lockId = '', backup = null } = (message ?? {}) as Partial<LockReleased>;
      const released = { lockId, backup, waiters: waitersIn(message) };
      // Handlers run outside the run's own scope: a cancelled run has to hand on what it hears, too.
      if (released.lockId !== word.lockId) return CancellationScope.nonCancellable(() => notForUs(word, released));
      word.released = { ...released, waiters: joinQueue(word.released?.waiters ?? [], released.waiters) };
    },
    { description },
  );
  return word;
}

/** A run waits for one lock at a time. */
export async function takeLock<T>(word: LockWord, cancellation: Cancellation, wanted: WantedLock<T>): Promise<Turn<T>> {
  word.lockId = wanted.lockId;
  try {
    const turn = await queueUp(word, cancellation, wanted);
    if (turn.got === 'lock') word.taken.add(wanted.lockId);
    return turn;
  } finally {
    word.lockId = null;
    const late = heard(word);
    if (late !== null) await notForUs(word, late);
  }
}

async function notForUs({ taken }: LockWord, released: LockReleased): Promise<void> {
  // Told that it is their turn they would overtake the queue of the lock, which is not free.
  const queued = released.backup === null && taken.has(released.lockId) && (await askHolder(released.lockId, released));
  if (!queued) await passOn(released);
}

async function queueUp<T>(word: LockWord, cancellation: Cancellation, wanted: WantedLock<T>): Promise<Turn<T>> {
  const { lockId, ifBusy, accept, onQueued } = wanted;
  const { workflowId, runId } = workflowInfo();
  const me: Waiter = { workflowId, runId, since: new Date().toISOString() };
  const deadlineMs = Date.now() + wanted.busyTimeoutMs;
  let inherited: Waiter[] = [];
  let child = await start(wanted, inherited, cancellation, 1);
  while (child === null) {
    const waitMs = Math.min(ASK_AGAIN_MS, deadlineMs - Date.now());
    if (cancellation.requested || ifBusy === 'fail' || waitMs <= 0) {
      await passOn({ lockId, waiters: inherited, backup: null });
      return { got: cancellation.requested ? 'cancelled' : 'busy' };
    }
    onQueued(me.since);
    const asked = await askHolder(lockId, { waiters: joinQueue(inherited, [me]) });
    if (asked) {
      inherited = [];
      await condition(() => word.released !== null || cancellation.requested, waitMs, { summary: `for ${lockId}` });
      const released = heard(word);
      if (released === null) continue;
      if (released.backup !== null && accept(released.backup)) {
        await passOn(released);
        return { got: 'backup', end: released.backup };
      }
      inherited = released.waiters;
    }
    // With the word in hand only the holder's last breath is waited for; it may also be gone, and have told nobody.
    child = await start(wanted, inherited, cancellation, asked ? MAX_STARTS_PER_TURN : 1);
  }
  return { got: 'lock', child };
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
    if (left > 1) await condition(() => cancellation.requested, START_AGAIN_MS, { summary: `for ${wanted.lockId}` });
  }
  return null;
}

function heard(word: LockWord): LockReleased | null {
  const { released } = word;
  word.released = null;
  return released;
}
