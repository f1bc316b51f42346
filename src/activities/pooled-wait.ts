/**
 * Polls for an operation while its status stays in progress. This costs Temporal one activity, however many reads it
 * makes. The heartbeats hold the progress, so another worker can continue.
 */
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import type { ReadAnswer } from '../contract/activities.ts';
import { definedFields } from '../contract/plain-object.ts';
import type { PooledProgress, PooledWait, PooledWaitEnd } from '../contract/polling.ts';
import { TIMING } from '../contract/timing.ts';
import { nextRead, absorb, isForOthers } from '../rules/poll-state.ts';
import { withMeaning } from '../rules/status-words.ts';
import type { Reads } from './read-status.ts';

/** The pooled waits of a worker sleep here. Times are by Temporal's clock. */
export interface Pool {
  /** Notes that an attempt of a wait begins. @param scheduledMs when Temporal scheduled it */
  begun(scheduledMs: number): Promise<void>;
  nowMs(): number;
  /** @returns false if the worker stops first */
  sleepUntil(atMs: number): Promise<boolean>;
}

export function createPooledWaits(pool: Pool, reads: Reads) {
  return {
    pollWhileInProgress: async (wait: PooledWait): Promise<PooledWaitEnd> => {
      const { words, tries } = wait;
      const { currentAttemptScheduledTimestampMs: scheduledMs, ...info } = activityInfo();
      await pool.begun(scheduledMs);
      const handedOver = info.heartbeatDetails as PooledProgress | undefined;
      const kept = keepProgress(handedOver ?? wait.progress, pool);
      for (;;) {
        const before = kept.progress;
        const due = nextRead(before.state);
        await kept.sleepUntil(due.atMs);
        const read = await readOf(wait, reads, due.atMs);
        const result = withMeaning(words, read);
        if (isForOthers(before, result)) throw kept.handOver({ ...before, isLeftToOthers: true }, messageOf(read));
        const after = absorb(tries, before, result, { nowMs: pool.nowMs(), isTry: due.isTry });
        if (after === null) return { progress: before, read, isTry: due.isTry };
        kept.note(after);
      }
    },
  };
}

function readOf({ service, subject, deploymentId }: PooledWait, reads: Reads, dueMs: number): Promise<ReadAnswer> {
  const input = { service, dueMs, unlessResting: true } as const;
  return 'backupId' in subject
    ? reads.readBackup({ ...input, ...subject })
    : reads.readLatestDeployment({ ...input, ...subject, ...definedFields({ deploymentId }) });
}

const messageOf = (read: ReadAnswer): string => (read.ok ? '' : read.message);

/**
 * Keeps the progress of a wait and sends its heartbeats: at once if the status changes, otherwise often enough to stay
 * alive.
 */
function keepProgress(first: PooledProgress, pool: Pool) {
  let progress = first;
  let beatMs = pool.nowMs();

  function beat(): void {
    beatMs = pool.nowMs();
    heartbeat(progress);
  }

  function handOver(after: PooledProgress, why: string): ApplicationFailure {
    progress = after;
    beat();
    return ApplicationFailure.create({
      type: 'HandedOver',
      message: why,
      nextRetryDelay: TIMING.read.handOverMs,
      category: ApplicationFailureCategory.BENIGN,
    });
  }

  return {
    get progress() {
      return progress;
    },
    note(after: PooledProgress) {
      const isNews = after.lastStatus !== progress.lastStatus;
      progress = after;
      if (isNews) beat();
    },
    handOver,
    async sleepUntil(atMs: number): Promise<void> {
      do {
        if (pool.nowMs() >= beatMs + TIMING.pool.heartbeatMs) beat();
        const wakeMs = Math.min(atMs, beatMs + TIMING.pool.heartbeatMs);
        if (!(await pool.sleepUntil(wakeMs))) throw handOver(progress, 'the worker stops');
        // No workflow waits for the activity any more.
        if (cancellationSignal().aborted) throw new CancelledFailure('the wait is over');
      } while (pool.nowMs() < atMs);
    },
  };
}
