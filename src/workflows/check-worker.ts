/** Checks whether the workers have what the input needs, and whether it is too late to start. */
import { sleep, workflowInfo } from '@temporalio/workflow';
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { durationText } from '../contract/duration.ts';
import { TIMING } from '../contract/timing.ts';
import { otherEpoch, isServed } from '../contract/service-identity.ts';
import type { RunInput, RunError, RunPlan } from '../contract/run.ts';
import { isApp, NO_APP_PATHS, type Target } from '../contract/target.ts';
import { conclude, type Conclusion, endWith, internalError, resultOrFailure } from './conclusion.ts';
import { unlessReset } from './reset.ts';
import type { WorkerInfo, WorkerQuestion } from '../contract/activities.ts';
import { describeAnyWorker, describeWorker } from './activity-proxies.ts';
import { ROLLOUT_TYPE, type Outcome } from '../contract/names.ts';
import { plainText } from '../contract/safe-text.ts';

const ASKING_ROUNDS = 3;
const ASKED_AT_ONCE = 12;

/** The conclusion of a run or rollout that a worker took up too late, or null. */
export function takenUpTooLate(beganMs: number, startWithinMs: number): Conclusion | null {
  if (beganMs - workflowInfo().startTime.getTime() <= startWithinMs) return null;
  return noWorkerWithin(startWithinMs, 'took up');
}

export function noWorkerWithin(startWithinMs: number, did: 'took up' | 'admitted'): Conclusion {
  const what = workflowInfo().workflowType === ROLLOUT_TYPE ? 'rollout' : 'run';
  const message = `no worker ${did} this ${what} within ${durationText(startWithinMs)}, so it was not started`;
  return conclude('not_started', 'NoWorker', message);
}

/**
 * The conclusion if the database was restored since this workflow began, or null. The restored database may not know what
 * the workflow sent.
 */
export function restoredSince(
  { epoch }: Pick<RunInput, 'epoch'>,
  facts: Pick<WorkerInfo, 'epoch'>,
  beganMs = workflowInfo().startTime.getTime(),
): Conclusion | null {
  const problem = otherEpoch({ epoch, beganMs }, facts.epoch);
  return problem === null ? null : conclude('unknown', 'OutcomeUnknown', problem);
}

export type Needs = Pick<RunInput, 'service' | 'heartbeat'> & { targets: readonly Target[] };

/** The conclusion if the workers lack what this input needs, or null. */
export function refusalOfWorker({ service, heartbeat, targets }: Needs, facts: WorkerInfo): Conclusion | null {
  if (service !== undefined && !isServed(service, facts)) {
    return conclude(
      'not_started',
      'Refused',
      `this is for ${service}, but the workers serve ${facts.service}: start workers for it, or name theirs`,
    );
  }
  if (!hasPathsFor(targets, facts)) return conclude('not_started', 'Usage', NO_APP_PATHS);
  if (heartbeat === undefined || facts.notify?.heartbeats.includes(heartbeat) === true) return null;
  const remedy = "add it to notify.heartbeats in the worker's belay.yaml, and start the worker again";
  return conclude('not_started', 'Usage', `the worker has no heartbeat "${heartbeat}": ${remedy}`);
}

export const refuseMisuse = ({ usageProblem }: WorkerInfo): Conclusion | null =>
  usageProblem === undefined ? null : conclude('not_started', 'Usage', usageProblem);

const hasPathsFor = (targets: readonly Target[], { deploysApps = false }: WorkerInfo): boolean =>
  deploysApps || !targets.some(isApp);

/**
 * Asks other workers if the first one does not fit, so that one worker with another configuration cannot fail a run.
 * Which worker takes an activity is random: a worker with five pollers may take five in a row.
 */
async function askOthers(question: WorkerQuestion, needs: Needs, first: WorkerInfo): Promise<WorkerInfo> {
  const fits = (facts: WorkerInfo) => refusalOfWorker(needs, facts) === null;
  let facts = first;
  for (let round = 0; round < ASKING_ROUNDS && !fits(facts); round += 1) {
    if (round > 0) await sleep(TIMING.lookup.otherWorkersPauseMs, { summary: 'before asking other workers' });
    const ask = () => describeAnyWorker({ ...question, hasPlace: true }).catch(() => null);
    const asked = await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask));
    facts = asked.find((it) => it !== null && fits(it)) ?? facts;
  }
  return first.admitted === false ? { ...facts, admitted: false } : facts;
}

/* Lets a worker check the input of a workflow and plan it, so that replays do not depend on today's limits and defaults. */

export type Checked = { error: RunError } | { plan: RunPlan; facts: WorkerInfo };

/**
 * All facts come from one worker.
 *
 * @param needsOf what a worker needs for an input that it accepts. If the first worker lacks it, others are asked.
 * Default: nothing
 */
export async function letWorkerCheck(
  question: Required<Pick<WorkerQuestion, 'request'>> & WorkerQuestion,
  needsOf?: () => Needs,
): Promise<Checked> {
  const first = await askWorker(question);
  if ('error' in first) return first;
  const firstDecides = needsOf === undefined || first.checked === undefined || 'problem' in first.checked;
  const { checked, ...facts } = firstDecides ? first : await askOthers(question, needsOf(), first);
  if (checked === undefined) return { error: { type: 'Internal', message: 'the worker did not check the input' } };
  return 'problem' in checked ? { error: { type: 'Usage', message: checked.problem } } : { plan: checked.plan, facts };
}

/** Asks one worker. If no worker could answer within minutes, returns the error that the workflow ends with. */
export const askWorker = (question: WorkerQuestion): Promise<WorkerInfo | { error: RunError }> =>
  describeWorker(question).catch(refuseUnchecked);

/** Ends a workflow whose input no worker could check within minutes, because it would hold its id and its locks for ever. */
function refuseUnchecked(error: unknown): { error: RunError } {
  const why = whyUnchecked(error instanceof ActivityFailure ? error.cause : undefined);
  if (why === null) throw error;
  return { error: { type: 'Refused', message: `no worker could check the request: ${why}` } };
}

function whyUnchecked(cause: unknown): string | null {
  if (cause instanceof TimeoutFailure)
    return 'every worker that began to check it was too slow: see to the workers, then start again';
  if (!(cause instanceof ApplicationFailure)) return null;
  return `${plainText(cause.message, 400)}: correct it there, then start again`;
}

/** Call this for a state that is created before anything is requested. An error that escapes fails the task for ever. */
export function stateOrError<S>(create: () => S): S | { error: RunError } {
  try {
    return create();
  } catch (error) {
    return { error: internalError(error) };
  }
}

/** Ends a workflow whose input was not checked, or whose state could not be created. It has requested nothing. */
export function endUnchecked<R extends { outcome: Outcome | null; error: RunError | null; endedAt: string | null }>(
  result: R,
  error: RunError,
): R {
  if (error.type !== 'Refused') return resultOrFailure(result, error);
  const ended = endWith(result, unlessReset({ outcome: 'not_started', error }));
  return resultOrFailure(result, ended.error);
}
