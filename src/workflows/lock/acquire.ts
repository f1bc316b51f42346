/** Acquires a lock by starting the operation with its id, in the order of the queue if another run holds it. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { condition, workflowInfo } from '@temporalio/workflow';
import type { BackupConclusion, Waiter } from '../../contract/operation.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { OperationKind } from '../../contract/sinks.ts';
import type { RunWork } from '../../features/superseding/shapes.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Waiting } from '../../contract/waiting.ts';
import type { Cancellation } from '../cancellation.ts';
import { report } from '../metrics.ts';
import { awaitRelease, type Place } from './await-release.ts';
import { forwardLate, takeReleased, type LockMailbox } from './mailbox.ts';
import { forwardRelease } from './release.ts';

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
      report.lockAcquired({ operation: wanted.operation, waitedMs: Date.now() - begunMs });
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
  const place: Place = {
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
