/**
 * Every activity that workflows call, with its time budget. By default, Temporal gives the first attempt to the worker
 * that scheduled it (eager dispatch), which is quick and works while that worker rests. Any worker makes the next one.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WorkerInfo, WorkerQuestion } from '../contract/activities.ts';
import { admissionTaskQueue, waitTaskQueue } from '../contract/names.ts';
import type { PooledWait, PooledWaitEnd } from '../contract/polling.ts';
import { TIMING } from '../contract/timing.ts';

const { admission, event, lookup, notify, pool, post, read } = TIMING;
const ONCE = { maximumAttempts: 1 };
/** Eager dispatch would give an activity back to the worker that scheduled it. */
const ANY_WORKER = { allowEagerDispatch: false };
/** A worker that rests gives an activity back at once. */
const UNTIL_TAKEN = {
  ...ANY_WORKER,
  retry: { maximumAttempts: 8, initialInterval: read.handOverMs, backoffCoefficient: 1 },
};

/** Every run calls it first, and the worker answers from memory. Attempts count only workers: while none polls, it waits. */
export const { describeWorker } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.regularMs,
  retry: { maximumAttempts: lookup.describeWorkerAttempts },
});

/** Asks any worker, and not first the one that executes this workflow. */
export const describeAnyWorker = (question: WorkerQuestion): Promise<WorkerInfo> =>
  describeWorker.executeWithOptions(ANY_WORKER, [question]);

/** Uses a queue of its own, where it waits until a worker lets the next run begin. */
export const waitForAdmission = (taskQueue: string, withinMs: number, summary: string): Promise<void> =>
  proxyActivities<Activities>({
    ...ANY_WORKER,
    taskQueue: admissionTaskQueue(taskQueue),
    startToCloseTimeout: admission.answerMs,
    scheduleToCloseTimeout: withinMs,
  }).admitRun.executeWithOptions({ summary }, []);

/** One attempt, because a loop repeats its reads itself. It continues even if no worker takes a read. */
export const readOnce = proxyActivities<Activities>({
  scheduleToStartTimeout: read.activityMs,
  startToCloseTimeout: read.activityMs,
  scheduleToCloseTimeout: 2 * read.activityMs,
  heartbeatTimeout: read.heartbeatTimeoutMs,
  retry: ONCE,
});

/** For a read that may have failed because of its worker. */
export const readElsewhere = proxyActivities<Activities>({
  ...UNTIL_TAKEN,
  scheduleToStartTimeout: read.takenWithinMs,
  startToCloseTimeout: read.activityMs,
  scheduleToCloseTimeout: 2 * read.activityMs,
  heartbeatTimeout: read.heartbeatTimeoutMs,
});

/** Uses a queue of its own, because it holds its slot as long as the status stays in progress. */
export const pollInPool = (
  taskQueue: string,
  withinMs: number,
  summary: string,
  wait: PooledWait,
): Promise<PooledWaitEnd> =>
  proxyActivities<Activities>({
    ...ANY_WORKER,
    taskQueue: waitTaskQueue(taskQueue),
    scheduleToCloseTimeout: withinMs,
    heartbeatTimeout: pool.heartbeatTimeoutMs,
    retry: { initialInterval: read.handOverMs, backoffCoefficient: 1 },
  }).pollWhileInProgress.executeWithOptions({ summary }, [wait]);

/** A site may take as long as its check allows, and another worker may know a check that this one lacks. */
export const { checkSite } = proxyActivities<Activities>({
  ...UNTIL_TAKEN,
  startToCloseTimeout: read.activityMs,
  scheduleToCloseTimeout: 2 * read.activityMs,
});

/** A gate may take as long as its Prometheus does, and another worker may know a gate that this one lacks. */
export const { measureGate } = proxyActivities<Activities>({
  ...UNTIL_TAKEN,
  startToCloseTimeout: read.activityMs,
  scheduleToCloseTimeout: 2 * read.activityMs,
});

/** One attempt, because a POST is not idempotent. If no worker took it in time, it was certainly not sent. */
export const triggerOnce = proxyActivities<Activities>({
  ...ANY_WORKER,
  scheduleToStartTimeout: post.takenWithinMs,
  startToCloseTimeout: post.activityMs,
  heartbeatTimeout: post.heartbeatTimeoutMs,
  retry: ONCE,
});

/** The caller can do without the answer, which only makes a run faster or its progress clearer. */
export const { findLockHolder, findEndOfRun } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.optionalMs,
  scheduleToCloseTimeout: lookup.optionalMs,
});

/** Asks an operation in flight what it knows. */
export const { askOperation } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.regularMs,
  retry: { maximumAttempts: 3 },
});

/** Makes a search and sends some signals. A run that it misses meets the newer one at a lock. */
export const { signalOlderRuns } = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: lookup.regularMs,
  scheduleToCloseTimeout: lookup.supersedeMs,
});

/** Repeated until a worker answers, because nothing may be deployed while nobody can tell whether a freeze forbids it. */
export const { judgeFreezes } = proxyActivities<Activities>({ startToCloseTimeout: lookup.regularMs });

/** Repeated until a worker answers whether it has such a freeze. */
export const { confirmFreeze } = proxyActivities<Activities>({ startToCloseTimeout: lookup.regularMs });

/** Repeated, because another worker may have the signers that this one lacks. */
export const { checkApproval } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.regularMs,
  retry: { maximumAttempts: 4, initialInterval: lookup.otherWorkersPauseMs },
});

/** Repeated until a worker answers. To deploy after a backup of another server would be worse than to wait. */
export const { findBackupRecord } = proxyActivities<Activities>({ startToCloseTimeout: lookup.regularMs });

/** Searching closed workflows may take a while. */
export const { findCompletedBackup } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.regularMs,
  retry: { maximumAttempts: 3 },
});

/** Another worker may know a time zone that this one lacks. Invalid input is not retried. */
export const { resolveDeadline, resolveSlot } = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: lookup.regularMs,
  retry: { nonRetryableErrorTypes: ['RangeError'] },
});

export const { writeBackupRecord } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.regularMs,
  scheduleToCloseTimeout: event.deliverWithinMs,
});

export const { findSharedBackup } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.regularMs,
  scheduleToCloseTimeout: event.findSharedBackupWithinMs,
});

/** Fails until the record exists. Most backups are not ours and never get one, so there are few attempts. */
export const { findServersOfBackup } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.regularMs,
  scheduleToCloseTimeout: event.findServersWithinMs,
  retry: {
    maximumAttempts: 1 + event.findServersAfterMs.length,
    initialInterval: event.findServersAfterMs[0],
    backoffCoefficient: event.findServersAfterMs[1] / event.findServersAfterMs[0],
  },
});

export const signalWaiters = proxyActivities<Activities>({
  startToCloseTimeout: event.wakeMs,
  scheduleToCloseTimeout: event.deliverWithinMs,
});

export const signalRollouts = proxyActivities<Activities>({
  startToCloseTimeout: event.holdMs,
  scheduleToCloseTimeout: event.deliverWithinMs,
});

/** One attempt, because the state may have changed before the next. */
export const { sendReport } = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: notify.attemptMs,
  scheduleToCloseTimeout: notify.giveUpAfterMs,
  retry: ONCE,
});

/** Retried until the receiver accepts the request, on any worker, because one of them may lack the channel. */
export const notificationDelivery = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: notify.attemptMs,
  scheduleToCloseTimeout: notify.giveUpAfterMs,
  retry: { initialInterval: notify.retryMs, maximumInterval: notify.maxRetryMs },
});
