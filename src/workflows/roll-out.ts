/**
 * A rollout: a run for each server of a fleet, wave after wave, so many at once, until too many are not completed.
 * What has begun is never cut short.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { RolloutInput, RolloutResult } from '../fleet-contract.ts';
import { problemOfRollout } from '../rollout-input.ts';
import { announceRollout } from './announcements.ts';
import { admitRollout } from './rollout-admission.ts';
import { observeCancellation, type Cancellation } from './cancellation.ts';
import { defect, ended, resultOrFailure, type End } from './end.ts';
import { newRolloutResult, openRollout, type Rollout } from './open-rollout.ts';
import { hearDecisions } from './rollout-decisions.ts';
import { deployTarget } from './rollout-target.ts';
import { worst } from './rules/outcome.ts';
import { failuresIn } from './rules/rollout.ts';

export async function rollOut(input: RolloutInput): Promise<RolloutResult> {
  const problem = problemOfRollout(input);
  if (problem !== null) return resultOrFailure(newRolloutResult(null), { type: 'Usage', message: problem });
  const rollout = openRollout(input);
  const { result } = rollout;
  const cancellation = observeCancellation();
  return CancellationScope.nonCancellable(async () => {
    const end = await proceed(rollout, cancellation).catch(defect);
    result.outcome = end.outcome;
    result.error = end.error;
    result.endedAt = new Date().toISOString();
    rollout.enter('done');
    await announceRollout(rollout, null);
    await condition(allHandlersFinished);
    return resultOrFailure(result, end.error);
  });
}

async function proceed(rollout: Rollout, cancellation: Cancellation): Promise<End> {
  const { result } = rollout;
  const check = watchFailures(rollout);
  hearDecisions(rollout, check);
  const refusal = await admitRollout(rollout);
  if (refusal !== null) return endAll(rollout, refusal);
  if (result.phase === 'checking') rollout.enter('running');

  const isCancelled = () => cancellation.requested && result.phase !== 'stopping';
  for (let step = rollout.next(); step.do !== 'end'; step = rollout.next()) {
    if (isCancelled()) rollout.decide('abort', 'Temporal', 'the rollout was cancelled');
    else if (step.do === 'begin') void deployTarget(rollout, step.target).then(check);
    else await condition(() => rollout.next().do !== 'wait' || isCancelled());
  }
  return endAll(rollout, null);
}

const THRESHOLD = 'maxFailures';

/** @returns to be called after each end and each resume: stops or pauses where too many are not completed */
function watchFailures(rollout: Rollout): () => void {
  const { input, result } = rollout;
  let forgiven = 0;
  let pauses = 0;
  let pausedAt = 0;
  return () => {
    const failures = failuresIn(result.targets);
    // Whoever resumes what this had paused has decided to live with those.
    if (result.phase === 'running' && pauses > pausedAt) [forgiven, pausedAt] = [failures, pauses];
    // The last server counts as well, though nothing is left to be stopped.
    if (result.phase === 'running' && failures - forgiven > input.maxFailures) {
      const why = `too many servers are not completed: ${failures - forgiven}, at most ${input.maxFailures} may be`;
      rollout.decide(input.onFailures, THRESHOLD, why);
      if (input.onFailures === 'pause') void announceRollout(rollout, (pauses += 1));
    }
    rollout.refresh();
  };
}

/** Gives those an outcome that did not begin. */
function endAll(rollout: Rollout, refusal: End | null): End {
  const { targets } = rollout.result;
  const halt = haltOf(rollout, refusal);
  for (const target of targets) {
    if (target.outcome !== null) continue;
    target.outcome = 'not_started';
    const held = target.heldBy === null ? null : `server ${target.serverId} was held by ${target.heldBy}`;
    target.error = held === null ? halt.error : { type: 'Cancelled', message: held };
    for (const deployment of target.deployments) deployment.outcome ??= 'not_started';
  }
  const ends = targets.map(({ serverId, outcome, error }) => ({
    outcome,
    error: error === null ? null : { ...error, message: `server ${serverId}: ${error.message}` },
  }));
  const end = refusal ?? worst([...ends, halt]);
  if (end.error === null || halt.error === null || end.error.message === halt.error.message) return end;
  return { ...end, error: { ...end.error, message: `${halt.error.message}; ${end.error.message}` } };
}

function haltOf({ result: { decisions } }: Rollout, refusal: End | null): End {
  if (refusal !== null) return refusal;
  const decision = decisions.findLast(({ what }) => what === 'abort' || what === 'stop');
  if (decision === undefined) return { outcome: 'completed', error: null };
  const { what, by, why } = decision;
  if (what === 'abort') return ended('cancelled', 'Cancelled', `aborted by ${by}: ${why}`);
  return ended('not_started', 'Cancelled', `stopped: ${why}`);
}
