/**
 * Every activity that workflows call, with its time budget. A local activity costs the fewest history events, but
 * occupies the workflow task, and hints and queries wait for that. So it gets one attempt and a short budget.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { WorkerInfo, WorkerQuestion } from '../../contract/activities.ts';
import type { ApprovalCheck, CheckedApproval } from '../../contract/approval.ts';
import type { FreezeAnswer, FreezeQuestion, FreezeScope, FreezeWord } from '../../contract/freeze.ts';
import type { Execution, OperationProgress } from '../../contract/operation.ts';
import { admissionTaskQueue, waitTaskQueue } from '../../contract/names.ts';
import type { PooledWait, PooledWaitEnd } from '../../contract/polling/pooled-wait.ts';
import { TIMING } from '../../contract/budgets/timing.ts';

const { admission, event, lookup, notify, pool, post, read } = TIMING;
const ONCE = { maximumAttempts: 1 };
/** Eager dispatch would give an activity back to the worker that scheduled it. */
const ANY_WORKER = { allowEagerDispatch: false };
/** A worker that rests gives an activity back at once. */
const UNTIL_TAKEN = {
  ...ANY_WORKER,
  retry: { maximumAttempts: 8, initialInterval: read.handOverMs, backoffCoefficient: 1 },
};

/** Local: every run calls it first, and the worker answers from memory. */
export const { describeWorker: describeThisWorker } = proxyLocalActivities<Activities>({
  startToCloseTimeout: lookup.describeWorkerLocalMs,
  retry: ONCE,
});

/** Regular, so that any worker may answer. Attempts count only workers: while none polls, it waits. */
export const { describeWorker } = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: lookup.regularMs,
  retry: { maximumAttempts: lookup.describeWorkerAttempts },
});

/** What a worker says of itself: this one from memory, or another one if this one does not answer. */
export const describeSomeWorker = (question: WorkerQuestion = {}): Promise<WorkerInfo> =>
  describeThisWorker(question).catch(() => describeWorker(question));

/** Regular, on a queue of its own: it waits there until a worker lets the next run begin. */
export const waitForAdmission = (taskQueue: string, withinMs: number, summary: string): Promise<void> =>
  proxyActivities<Activities>({
    ...ANY_WORKER,
    taskQueue: admissionTaskQueue(taskQueue),
    startToCloseTimeout: admission.answerMs,
    scheduleToCloseTimeout: withinMs,
  }).admitRun.executeWithOptions({ summary }, []);

/** Local: a poll loop makes one read per interval. */
export const quickRead = proxyLocalActivities<Activities>({ startToCloseTimeout: read.quickActivityMs, retry: ONCE });

/** Regular: a slow service must not occupy the workflow task. */
export const patientRead = proxyActivities<Activities>({
  ...UNTIL_TAKEN,
  scheduleToStartTimeout: read.patientActivityMs,
  startToCloseTimeout: read.patientActivityMs,
  scheduleToCloseTimeout: 2 * read.patientActivityMs,
});

/** Regular, on a queue of its own, because it holds its slot as long as the status stays in progress. */
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

/** Regular: a site may take as long as its check allows, and another worker may know a check that this one lacks. */
export const { checkSite } = proxyActivities<Activities>({
  ...UNTIL_TAKEN,
  startToCloseTimeout: read.patientActivityMs,
  scheduleToCloseTimeout: 2 * read.patientActivityMs,
});

/** Regular: a gate may take as long as its Prometheus does, and another worker may know a gate that this one lacks. */
export const { measureGate } = proxyActivities<Activities>({
  ...UNTIL_TAKEN,
  startToCloseTimeout: read.patientActivityMs,
  scheduleToCloseTimeout: 2 * read.patientActivityMs,
});

/** Regular: for a read that may have failed because of its worker. */
export const readElsewhere = proxyActivities<Activities>({
  ...UNTIL_TAKEN,
  scheduleToStartTimeout: read.takenWithinMs,
  startToCloseTimeout: read.patientActivityMs,
  scheduleToCloseTimeout: 2 * read.patientActivityMs,
});

/** Regular, with one attempt: a POST is not idempotent. One that no worker took in time is certainly not sent. */
export const triggerOnce = proxyActivities<Activities>({
  ...ANY_WORKER,
  scheduleToStartTimeout: post.takenWithinMs,
  startToCloseTimeout: post.activityMs,
  heartbeatTimeout: post.heartbeatTimeoutMs,
  retry: ONCE,
});

/** Local: optional lookups and records. They make a run faster or its progress clearer, or the caller has a fallback. */
export const localLookup = proxyLocalActivities<Activities>({ startToCloseTimeout: lookup.localMs, retry: ONCE });

/** What an operation in flight knows: as this worker hears, or another one if it does not answer this one. */
export const askOperation = (operation: Execution): Promise<OperationProgress> =>
  localLookup.askOperation(operation).catch(() => askOperationAgain(operation));

/** Regular, and repeated: an operation that reads a status answers once that has ended. */
const { askOperation: askOperationAgain } = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: lookup.regularMs,
  retry: { maximumAttempts: 3 },
});

/** Regular: a search and some signals. A run that it misses meets the newer one at a lock. */
export const { signalOlderRuns } = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: lookup.regularMs,
  scheduleToCloseTimeout: lookup.supersedeMs,
});

/** What of this is frozen: as this worker judges it, or another one if this one cannot. */
export const judgeSomewhere = (question: FreezeQuestion): Promise<FreezeAnswer> =>
  localLookup.judgeFreezes(question).catch(() => judgeFreezes(question));

/** Regular, and repeated until a worker answers: what no worker can answer holds back. */
const { judgeFreezes } = proxyActivities<Activities>({ ...ANY_WORKER, startToCloseTimeout: lookup.regularMs });

/** What a worker says of a freeze: this one, or another one if this one does not answer. */
export const confirmSomewhere = (scope: FreezeScope): Promise<FreezeWord> =>
  localLookup.confirmFreeze(scope).catch(() => confirmFreeze(scope));

const { confirmFreeze } = proxyActivities<Activities>({ ...ANY_WORKER, startToCloseTimeout: lookup.regularMs });

/** Whether an answer counts: as this worker says, or another one if this one cannot tell. */
export const checkSomewhere = (check: ApprovalCheck): Promise<CheckedApproval> =>
  localLookup.checkApproval(check).catch((error: unknown) => {
    if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.nonRetryable)
      throw error;
    return checkApproval(check);
  });

/** Regular: another worker may have the signers that this one lacks. */
const { checkApproval } = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: lookup.regularMs,
  retry: { maximumAttempts: 3, initialInterval: lookup.otherWorkersPauseMs },
});

/** Regular: to deploy after a backup of another server would be worse than to wait for the answer. */
export const { findBackupRecord } = proxyActivities<Activities>({ startToCloseTimeout: lookup.regularMs });

/** Regular: searching closed workflows may take a while. */
export const { findCompletedBackup } = proxyActivities<Activities>({
  startToCloseTimeout: lookup.regularMs,
  retry: { maximumAttempts: 3 },
});

/** Regular: another worker may know a time zone that this one lacks. Invalid input is not retried. */
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

/** Fails until the record exists. Most backups are none of ours, so it is retried few times. */
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

/** One attempt: what is sent next may be another state. */
export const { sendReport } = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: notify.attemptMs,
  scheduleToCloseTimeout: notify.giveUpAfterMs,
  retry: ONCE,
});

/** Temporal retries it until the receiver accepts the request, on any worker: one may lack the channel. */
export const notificationDelivery = proxyActivities<Activities>({
  ...ANY_WORKER,
  startToCloseTimeout: notify.attemptMs,
  scheduleToCloseTimeout: notify.giveUpAfterMs,
  retry: { initialInterval: notify.retryMs, maximumInterval: notify.maxRetryMs },
});
