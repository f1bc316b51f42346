/**
 * A rollout starts one run per server of a fleet, wave by wave with limited concurrency, until too many servers are not
 * completed. It never interrupts a run.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  workflowInfo,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import { TOO_MANY } from '../../contract/explain-wait.ts';
import type { RunInput, RunResult } from '../../contract/run.ts';
import type { RolloutInput, RolloutResult, TargetResult } from './shapes.ts';
import { isPending, emptyResult } from '../../contract/results.ts';
import {
  endUnchecked,
  letWorkerCheck,
  type Needs,
  refusalOfWorker,
  refuseMisuse,
  restoredSince,
  stateOrError,
  takenUpTooLate,
} from '../../workflows/check-worker.ts';
import { ROLLOUT_TYPE, type RunType } from '../../contract/names.ts';
import { observeCancellation, type Cancellation } from '../../workflows/cancellation.ts';
import {
  COMPLETED,
  concludeInternal,
  conclude,
  endWith,
  resultOrFailure,
  worst,
  type Conclusion,
} from '../../workflows/conclusion.ts';
import {
  type Beginning,
  concludeHeld,
  createRolloutState,
  firstOf,
  handleDecisions,
  handleHolds,
  newRolloutResult,
  skip,
} from './state.ts';
import { countRun } from '../../workflows/metrics.ts';
import type { RolloutHooks, RolloutState, Stop } from './hooks.ts';
import { failuresIn, onlyHeldServers, RESTORED, stopIn, type Step } from './rules.ts';
import { targetsOf, isSameTarget, targetsInput } from '../../contract/target.ts';
import { setAttributes, startAttributes, linkToThis } from '../../workflows/ui.ts';
import { runWorkflowId } from '../../contract/ids.ts';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { definedFields } from '../../contract/plain-object.ts';
import { runStartOptions } from '../../request/start-options.ts';
import { POOLED_ABOVE } from '../../request/limits.ts';
import { plainText } from '../../contract/safe-text.ts';
import { awaitChild } from '../../workflows/children.ts';
import { unlessReset } from '../../workflows/reset.ts';
import { attributesOfRun } from '../../request/search-attributes.ts';

export async function rollOut(input: RolloutInput, hooks: RolloutHooks): Promise<RolloutResult> {
  const cancellation = observeCancellation();
  const beganMs = Date.now();
  const beginning: Beginning = { rollout: null };
  handleDecisions(beginning);
  return CancellationScope.nonCancellable(async () => {
    const checked = await letWorkerCheck({ request: { type: ROLLOUT_TYPE, input } }, () => needsOfRollout(input));
    const known = { input, cancellation };
    const rollout =
      'error' in checked ? checked : stateOrError(() => createRolloutState({ ...known, ...checked }, hooks));
    if ('error' in rollout) {
      beginning.rollout = 'refused';
      await condition(allHandlersFinished);
      return endUnchecked(newRolloutResult(null), rollout.error);
    }
    const { result } = rollout;
    beginning.rollout = rollout;
    const begun = proceed(rollout, beganMs, cancellation);
    const { error } = endWith(result, await begun.catch(concludeInternal));
    rollout.setPhase('done');
    countRun(result);
    for (const hook of rollout.hooks) await hook.ended?.();
    await condition(allHandlersFinished);
    return resultOrFailure(result, error);
  });
}

async function proceed(rollout: RolloutState, beganMs: number, cancellation: Cancellation): Promise<Conclusion> {
  const { result, hooks, facts } = rollout;
  handleHolds(rollout, facts.service);
  const isCancelled = () => cancellation.requested && result.phase !== 'stopping';
  let refusal = admitRollout(rollout, beganMs);
  for (const hook of hooks) refusal ??= (await hook.begin?.()) ?? null;
  if (refusal !== null) return concludeRollout(rollout, refusal);
  if (result.phase === 'checking') rollout.setPhase('running');

  const ended = (target: TargetResult, run: RunResult) => {
    for (const hook of hooks) hook.serverEnded?.(target, run);
    checkFailures(rollout);
    rollout.refresh();
  };
  const due = () => (result.phase === 'stopping' ? undefined : hooks.find((it) => it.isDue?.() === true));
  const next = () => {
    // A rollout that resumes by itself accepts no failure that it met while it was paused.
    checkFailures(rollout);
    return rollout.next();
  };
  /** Held servers that nothing follows end here, so that the gates of their wave are due. */
  const goesOn = (step: Step): boolean => {
    if (step.kind !== 'end' || due() !== undefined) return true;
    const held = result.phase === 'stopping' ? [] : onlyHeldServers(result.targets);
    if (held.length === 0) return false;
    for (const target of held) skip(target, concludeHeld(target));
    return true;
  };
  for (let step = next(); goesOn(step); step = next()) {
    const dueHook = due();
    if (isCancelled()) rollout.decide('abort', 'Temporal', 'the rollout was cancelled');
    else if (dueHook !== undefined) await dueHook.pass?.();
    else if (step.kind === 'begin') {
      const { target } = step;
      let mayStart = true;
      for (const hook of hooks) mayStart &&= (await hook.mayStart?.(target)) ?? true;
      if (mayStart) void deployTarget(rollout, target).then((run) => ended(target, run));
    } else if (step.kind === 'decide') haltForHeld(rollout, step.held);
    else await condition(() => rollout.next().kind !== 'wait' || due() !== undefined || isCancelled());
  }
  return concludeRollout(rollout, null);
}

/** Stops the rollout, or pauses it for a decision if `onFailures` is `pause` and servers are pending. */
function halt(rollout: RolloutState, by: string, reason: string): void {
  const { input, result } = rollout;
  const shouldPause = input.onFailures === 'pause' && result.targets.some(isPending);
  rollout.decide(shouldPause ? 'pause' : 'stop', by, reason);
  if (shouldPause) rollout.announcePause();
}

function haltForHeld(rollout: RolloutState, { serverId, wave, heldByEvent }: TargetResult): void {
  halt(rollout, heldByEvent ?? '', `server ${serverId} of wave ${wave} is held`);
}

/** Call this after each server. The last server counts too, although nothing is left to stop. */
function checkFailures(rollout: RolloutState): void {
  const { result, acceptedFailures } = rollout;
  const { maxFailures } = rollout.input;
  const failures = failuresIn(result.targets) - acceptedFailures;
  if (result.phase === 'running' && failures > maxFailures)
    halt(rollout, TOO_MANY, `too many servers are not completed: ${failures} (at most ${maxFailures} allowed)`);
}

/** Gives an outcome to the servers that did not start, and to the rollout. */
function concludeRollout(rollout: RolloutState, refusal: Conclusion | null): Conclusion {
  const { targets } = rollout.result;
  // A stop counts only if servers were left to start.
  const isDue = rollout.hooks.some((it) => it.isDue?.() === true);
  const isCut = refusal !== null || targets.some(({ outcome }) => outcome === null) || isDue;
  const halted: Conclusion = isCut ? unlessReset(concludeHalt(rollout, refusal)) : COMPLETED;
  const hasFailed = hasFailedItself(rollout);
  const ofSkipped: Conclusion = hasFailed ? { ...halted, outcome: 'not_started' } : halted;
  for (const target of targets.filter(({ outcome }) => outcome === null)) {
    skip(target, target.heldByEvent === null ? ofSkipped : concludeHeld(target));
  }
  const servers = targets.map(({ serverId, outcome, error }) => ({
    outcome,
    // The error of the halt itself does not belong to a server.
    error:
      error === null || error.message === halted.error?.message
        ? error
        : { ...error, message: `server ${serverId}: ${error.message}` },
  }));
  const conclusion = refusal !== null ? halted : worst(hasFailed ? [halted, ...servers] : [...servers, halted]);
  const { error } = conclusion;
  if (error === null || halted.error === null || error.message === halted.error.message) return conclusion;
  return { ...conclusion, error: { ...error, message: `${halted.error.message}; ${error.message}` } };
}

/** A hook such as a gate ends a rollout as failed or unknown, although the servers that it keeps from starting are `not_started`. */
const hasFailedItself = (rollout: RolloutState): boolean =>
  failureOf(rollout) !== null || (rollout.stopped !== null && rollout.stopped.outcome !== 'not_started');

const failureOf = ({ hooks }: RolloutState): Stop | null => firstOf(hooks, (it) => it.failed?.());

/** True if a run of this attempt may have requested something. The first results belong to earlier attempts. */
const hasBegun = ({ input, result }: RolloutState): boolean =>
  result.targets
    .slice(input.previousResults?.length ?? 0)
    .some(({ outcome }) => outcome !== null && outcome !== 'not_started');

/** @returns `completed` if neither a refusal nor a decision keeps the rollout from starting more servers */
function concludeHalt(rollout: RolloutState, refusal: Conclusion | null): Conclusion {
  const { result, stopped } = rollout;
  if (refusal !== null) return refusal;
  const decision = stopIn(result.decisions);
  if (decision === undefined) return COMPLETED;
  const { action, by, reason } = decision;
  const failure = failureOf(rollout);
  if (action === 'abort' && failure !== null)
    return conclude(failure.outcome, failure.type, `aborted by ${by}: ${reason}; ${failure.reason}`);
  if (action === 'abort')
    return conclude(hasBegun(rollout) ? 'cancelled' : 'not_started', 'Cancelled', `aborted by ${by}: ${reason}`);
  if (stopped !== null) return stopped;
  if (by === RESTORED) return conclude('unknown', 'OutcomeUnknown', reason);
  return conclude('not_started', by === TOO_MANY ? 'Cancelled' : 'Busy', `stopped: ${reason}`);
}

/* Checks a rollout before it starts a server. Each server's run does the remaining checks. */

const needsOfRollout = (input: RolloutInput): Needs => ({
  ...input,
  targets: input.waves.flatMap((wave) => wave.targets.flatMap(targetsOf)),
});

/** @returns null if the rollout may start */
function admitRollout({ input, plan, facts, result, hooks }: RolloutState, beganMs: number): Conclusion | null {
  result.service = facts.service;
  for (const hook of hooks) hook.begun?.();
  setAttributes(facts.searchAttributes, { servers: result.targets.map(({ serverId }) => serverId) });
  return (
    restoredSince(input, facts) ??
    takenUpTooLate(beganMs, plan.startWithinMs) ??
    refusalOfWorker(needsOfRollout(input), facts) ??
    refuseMisuse(facts) ??
    firstOf(hooks, (it) => it.refuse?.())
  );
}

/* One server of a rollout: a run with an id made from the rollout's, so that it is started only once. */

/** Marks the server as started at once. Resolves when its run has ended and is recorded. */
async function deployTarget(rollout: RolloutState, target: TargetResult): Promise<RunResult> {
  target.startedAt = new Date().toISOString();
  for (const hook of rollout.hooks) hook.starts?.(target);
  const run = await runServer(rollout, target).catch((error: unknown) => ({
    ...emptyResult(),
    ...concludeInternal(error),
  }));
  const { outcome, error } = run;
  // A defect leaves no outcome, and a server that has ended needs one.
  endWith(target, {
    outcome: outcome ?? 'unknown',
    error: error === null ? null : { ...error, message: plainText(error.message) },
  });
  target.backup = run.backup?.outcome ?? null;
  for (const deployment of target.deployments) {
    const ended = run.deployments.find((it) => isSameTarget(it.target, deployment.target));
    deployment.outcome ??= ended === undefined ? 'unknown' : ended.outcome;
  }
  return run;
}

async function runServer(rollout: RolloutState, target: TargetResult): Promise<RunResult> {
  const { input } = rollout;
  const run = runInputOf(rollout, target);
  const type: RunType = targetsOf(run).length === 0 ? 'backupOnly' : 'backupThenDeploy';
  const workflowId = runWorkflowId(type, run, keyOf(input));
  target.workflowId = workflowId;
  rollout.refresh();
  try {
    const child = await startChild<(input: RunInput) => Promise<RunResult>>(type, {
      ...runStartOptions(run, { type, startedBy: `the rollout ${linkToThis()}` }),
      ...startAttributes(rollout.facts.searchAttributes, attributesOfRun(run)),
      workflowId,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [run],
    });
    return await awaitChild(child, emptyResult());
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const message = `${workflowId} was already started, by a reset rollout or by hand: look there for its outcome`;
    return { ...emptyResult(), ...conclude('unknown', 'OutcomeUnknown', message) };
  }
}

function runInputOf(rollout: RolloutState, target: TargetResult): RunInput {
  const { input, result, facts, hooks } = rollout;
  const { options, maxAtOnce, deploysUntil, meta, override, noCheck } = input;
  const left = target.deployments.filter(({ outcome }) => outcome === null);
  return {
    ...(maxAtOnce > POOLED_ABOVE ? { waits: 'pooled' as const } : {}),
    ...options,
    serverId: target.serverId,
    fleet: input.fleet,
    ...targetsInput(left.map((it) => it.target)),
    ...(deploysUntil === undefined ? {} : { deploysUntil: { after: startedAt(), ...deploysUntil } }),
    ...definedFields({ service: result.service ?? undefined, epoch: facts.epoch, override, noCheck }),
    ...(Object.assign({}, ...hooks.map((it) => it.carries?.(target))) as Partial<RunInput>),
    ...(meta === undefined ? {} : { meta }),
  };
}

const startedAt = () => workflowInfo().startTime.toISOString();

function keyOf({ name, key, attempt = 1 }: RolloutInput): string {
  // A key that already ends like a marked one is marked too, so that two attempts never share an id.
  const isMarked = attempt > 1 || /~\d+$/.test(key);
  return `${name}.${key}${isMarked ? `~${attempt}` : ''}`;
}
