/** Decides whether a POST may be sent now. A check that refuses throws a typed failure, and then nothing is sent. */
import { activityInfo } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import type { ActivityInProgress, TriggerActivityInput, WorkerInfo } from '../contract/activities.ts';
import type { Policy } from '../config/policy.ts';
import type { Execution } from '../contract/operation.ts';
import type { Judges } from './features.ts';
import type { PlannedOperation } from '../contract/target.ts';
import { whyTooLate } from '../rules/deadline.ts';
import { otherEpoch } from '../contract/service-identity.ts';
import { TIMING } from '../contract/timing.ts';
import { plainText, messageOf } from '../contract/safe-text.ts';
import type { SendPermit } from '../hosting-api/index.ts';
import { notServed, triggerFailure, restingMessage, type Rest } from './failures.ts';
import { startStopwatch, type Clocks } from './stopwatch.ts';

export interface PostCheckDeps extends Judges {
  workerInfo: WorkerInfo;
  policy: () => Promise<Pick<Policy, 'refusalOf'>>;
  rest: Rest;
  refused: RefusedPosts;
  /**
   * Asks Temporal how long it has waited for an activity, by its own clock.
   *
   * @returns null if Temporal no longer waits, because the activity timed out or was cancelled
   */
  awaitedForMs: (activity: ActivityInProgress) => Promise<number | null>;
  /**
   * Returns the first executions of the run and, if there is one, of the rollout that led to an activity, as Temporal recorded
   * them.
   */
  startedBy: (activity: Pick<ActivityInProgress, 'workflowId' | 'runId'>) => Promise<Execution[]>;
  clocks: Clocks;
}

export type PostInput = TriggerActivityInput & PlannedOperation;
type PostCheck = (input: PostInput, deps: PostCheckDeps) => void | Promise<void>;

const CHECKS: PostCheck[] = [checkService, checkEpoch, checkReset, checkReads, checkInventory, checkRest, checkRefused];

interface PermitDeps extends PostCheckDeps {
  activity: ActivityInProgress;
}

/**
 * A feature's opinion of a POST. It gathers what it needs while Temporal is asked whether it still waits for the POST,
 * and then judges the moments at which the request may leave.
 *
 * @throws ApplicationFailure if it cannot tell
 */
export type Permit = (input: PostInput, deps: PermitDeps) => Promise<(atMs: number) => ApplicationFailure | null>;

/** @throws ApplicationFailure that says why the POST must not be sent */
export async function permitPost(
  input: PostInput,
  deps: PostCheckDeps,
  permits: readonly Permit[],
): Promise<SendPermit> {
  for (const check of CHECKS) await check(input, deps);
  // The permits come last and at the same time, because their answers are valid only for a moment.
  const activity = activityInProgress();
  const asked = permits.map((permit) => permit(input, { ...deps, activity }));
  for (const answer of asked) answer.catch(() => undefined);
  const { permit, nowMs, untilMs } = await askTemporal(input, deps, activity);
  for (const answer of asked) {
    const refusalAt = await answer;
    // These are the first and the last moment at which the request may leave, by Temporal's clock.
    const refusal = refusalAt(nowMs) ?? refusalAt(untilMs);
    if (refusal !== null) throw refusal;
  }
  return permit;
}

/**
 * Throws `Resting`, as if no worker had taken the request in time, so that this attempt does not count.
 */
export function couldNotAsk(error: unknown): never {
  throw triggerFailure('Resting', `not sent: Temporal could not be asked first (${plainText(messageOf(error))})`);
}

function checkService(input: PostInput, { workerInfo }: PostCheckDeps): void {
  const message = notServed(input, workerInfo);
  if (message !== null) throw triggerFailure('NotSent', message);
}

/** After a restore, Temporal may not remember a request that was sent. */
function checkEpoch({ epoch }: PostInput, { workerInfo }: PostCheckDeps): void {
  const problem = otherEpoch({ epoch, beganMs: 0 }, workerInfo.epoch);
  if (problem !== null) throw triggerFailure('Restored', problem);
}

function checkReset(input: TriggerActivityInput): void {
  if (input.firstRunId === activityInfo().workflowExecution?.runId) return;
  throw triggerFailure('Reset', 'the operation was reset and may have sent its request before, so nothing was sent');
}

/**
 * If Temporal was down or the worker stalled between the reads and the request, what the reads showed may be outdated.
 */
function checkReads({ readAt }: TriggerActivityInput): void {
  if (readAt === undefined) return;
  const passedMs = activityInfo().currentAttemptScheduledTimestampMs - Date.parse(readAt);
  if (passedMs <= TIMING.verdict.coverageSlackMs) return;
  const longAgo = `${Math.round(passedMs / 1_000)}s`;
  throw triggerFailure('Stale', `not sent: the status was last read ${longAgo} before the request was scheduled`);
}

/** The run was held to the inventory when it began. It may have waited since, for a lock, a freeze or people. */
async function checkInventory(input: PostInput, { policy }: PostCheckDeps): Promise<void> {
  const { serverId } = input;
  const message = (await policy()).refusalOf('target' in input ? { serverId, targets: [input.target] } : { serverId });
  if (message !== null) throw triggerFailure('OutsideInventory', `not sent: ${message}`);
}

async function checkRest(_input: TriggerActivityInput, { rest }: PostCheckDeps): Promise<void> {
  if (!(await rest.isOver())) throw triggerFailure('Resting', `not sent: ${restingMessage(rest.reason)}`);
}

async function checkRefused({ idempotencyKey }: TriggerActivityInput, { refused }: PostCheckDeps): Promise<void> {
  if (!(await refused.isForOthers(idempotencyKey))) return;
  throw triggerFailure('Resting', 'not sent: the service refused it to this worker, so it is left to another one');
}

/** Keeps a worker that was stalled or suspended from sending late, or after everyone gave up on the request. */
async function askTemporal(
  { deadline }: PostInput,
  { awaitedForMs, clocks }: PostCheckDeps,
  activity: ActivityInProgress,
) {
  // Count from the question on: the answer says only that Temporal had not given up by then.
  const sinceAskedMs = startStopwatch(clocks);
  const askedAfterMs = await awaitedForMs(activity).catch(couldNotAsk);
  if (askedAfterMs === null)
    throw triggerFailure('NotSent', 'not sent: Temporal no longer waits for it, so this worker was stalled or cut off');
  const { permitMs, sentWithinMs } = TIMING.post;
  const nowMs = activityInfo().currentAttemptScheduledTimestampMs + askedAfterMs;
  const leftMs = deadline === undefined ? Infinity : Date.parse(deadline.at) - nowMs;
  // The workflow judges the deadline once more before the next attempt.
  if (deadline !== undefined && leftMs <= 0)
    throw triggerFailure('NotSent', `not sent: ${whyTooLate(deadline, nowMs + 1)}`);
  const forMs = Math.min(permitMs, sentWithinMs - askedAfterMs, leftMs);
  if (forMs <= 0)
    throw triggerFailure('Resting', `not sent: it was ${askedAfterMs} ms old, so this worker was stalled`);
  return { permit: { leftMs: () => forMs - sinceAskedMs() } satisfies SendPermit, nowMs, untilMs: nowMs + forMs };
}

function activityInProgress(): ActivityInProgress {
  const { taskToken, activityId, workflowExecution, currentAttemptScheduledTimestampMs } = activityInfo();
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  return { taskToken, activityId, workflowId, runId, scheduledMs: currentAttemptScheduledTimestampMs };
}

/* The POSTs for which this worker got 401 or 403. Another worker may have a valid token. */

interface RefusedPosts {
  add(idempotencyKey: string): void;
  /** True if another worker should make this POST: it was refused here, and this is not the only worker. */
  isForOthers(idempotencyKey: string): Promise<boolean>;
}

/** @param hasColleagues tells whether other workers poll the task queue */
export function createRefusedPosts(hasColleagues: () => Promise<boolean>): RefusedPosts {
  const keys = new Set<string>();
  return {
    add(key) {
      keys.add(key);
      setTimeout(() => keys.delete(key), TIMING.poll.unauthorizedPatienceMs).unref();
    },
    isForOthers: async (key) => keys.has(key) && (await hasColleagues().catch(() => false)),
  };
}
