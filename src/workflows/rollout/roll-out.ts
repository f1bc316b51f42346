/**
 * A rollout: a run for each server of a fleet, wave after wave, so many at once, until too many are not completed.
 * What has begun is never cut short.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { RunError } from '../../contract/run.ts';
import type { RolloutInput, RolloutResult, TargetResult } from '../../contract/rollout.ts';
import { problemOfRollout } from '../../request/validate-rollout-input.ts';
import { isToCome } from '../../contract/results/tally.ts';
import { announceRollout } from './announce-rollout.ts';
import { admitRollout } from './admit-rollout.ts';
import { observeCancellation, type Cancellation } from '../common/cancellation.ts';
import { defect, ended, resultOrFailure, type End } from '../common/conclusion.ts';
import { newRolloutResult, openRollout, type Rollout } from './rollout-state.ts';
import { hearDecisions } from './decisions.ts';
import { deployTarget } from './server-run.ts';
import { worst } from '../rules/worst-outcome.ts';
import { failuresIn, openOfWave, stopIn } from '../rules/rollout-step.ts';

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
  const failures = watchFailures(rollout);
  hearDecisions(rollout, () => {
    failures.forgive();
    leaveHeldOut(rollout);
  });
  const refusal = await admitRollout(rollout);
  if (refusal !== null) return endAll(rollout, refusal);
  if (result.phase === 'checking') rollout.enter('running');

  const isCancelled = () => cancellation.requested && result.phase !== 'stopping';
  for (let step = rollout.next(); step.do !== 'end'; step = rollout.next()) {
    if (isCancelled()) rollout.decide('abort', 'Temporal', 'the rollout was cancelled');
    else if (step.do === 'begin') void deployTarget(rollout, step.target).then(failures.check);
    else if (step.do === 'decide') haltFor(rollout, step.held);
    else await condition(() => rollout.next().do !== 'wait' || isCancelled());
  }
  return endAll(rollout, null);
}

/** Who stops it, as decisions tell, where it isn't the event that holds a server. */
const TOO_MANY = 'maxFailures';

/** Stops, or pauses where somebody is to decide and there is something to decide about. */
function halt(rollout: Rollout, by: string, why: string): void {
  const { input, result } = rollout;
  const isToPause = input.onFailures === 'pause' && result.targets.some(isToCome);
  rollout.decide(isToPause ? 'pause' : 'stop', by, why);
  const pauses = result.decisions.filter((decision) => decision.what === 'pause').length;
  // Who can't be told finds it in the list.
  if (isToPause) announceRollout(rollout, pauses).catch(() => undefined);
}

function haltFor(rollout: Rollout, { serverId, wave, heldBy }: TargetResult): void {
  halt(rollout, heldBy ?? '', `server ${serverId} of wave ${wave} is held`);
}

function watchFailures(rollout: Rollout) {
  const { input, result } = rollout;
  let forgiven = 0;
  return {
    /** To be called after each end. The last server counts as well, though nothing is left to be stopped. */
    check: () => {
      const failures = failuresIn(result.targets) - forgiven;
      if (result.phase === 'running' && failures > input.maxFailures) {
        const why = `too many servers are not completed: ${failures}, at most ${input.maxFailures} may be`;
        halt(rollout, TOO_MANY, why);
      }
      rollout.refresh();
    },
    /** Whoever resumes has decided to live with what failed until then. */
    forgive: () => void (forgiven = failuresIn(result.targets)),
  };
}

/** Whoever resumes, and lets no held server begin, goes on without those that are in the way. */
function leaveHeldOut({ result: { targets } }: Rollout): void {
  const open = openOfWave(targets);
  if (open.some(({ heldBy }) => heldBy === null)) return;
  for (const target of open.filter(isToCome)) leaveOut(target, heldError(target));
}

function leaveOut(target: TargetResult, error: RunError): void {
  target.outcome = 'not_started';
  target.error = error;
  for (const deployment of target.deployments) deployment.outcome ??= 'not_started';
}

const heldError = ({ heldBy }: TargetResult): RunError => ({ type: 'Busy', message: `held by ${heldBy}` });

const NOT_BEGUN: RunError = { type: 'Cancelled', message: 'it was not begun' };

/** Gives those an outcome that did not begin. */
function endAll(rollout: Rollout, refusal: End | null): End {
  const { targets } = rollout.result;
  // Who stops one that has nothing left to begin with keeps nobody from anything.
  const isCut = refusal !== null || targets.some(({ outcome }) => outcome === null);
  const stopped: End = isCut ? haltOf(rollout, refusal) : { outcome: 'completed', error: null };
  for (const target of targets.filter(({ outcome }) => outcome === null)) {
    leaveOut(target, target.heldBy === null ? (stopped.error ?? NOT_BEGUN) : heldError(target));
  }
  const ends = targets.map(({ serverId, outcome, error }) => ({
    outcome,
    error: error === null ? null : { ...error, message: `server ${serverId}: ${error.message}` },
  }));
  const end = refusal ?? worst([...ends, stopped]);
  if (end.error === null || stopped.error === null || end.error.message === stopped.error.message) return end;
  return { ...end, error: { ...end.error, message: `${stopped.error.message}; ${end.error.message}` } };
}

function haltOf({ result: { decisions } }: Rollout, refusal: End | null): End {
  if (refusal !== null) return refusal;
  const decision = stopIn(decisions);
  if (decision === undefined) return { outcome: 'completed', error: null };
  const { what, by, why } = decision;
  if (what === 'abort') return ended('cancelled', 'Cancelled', `aborted by ${by}: ${why}`);
  return ended('not_started', by === TOO_MANY ? 'Cancelled' : 'Busy', `stopped: ${why}`);
}
