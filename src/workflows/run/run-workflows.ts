/**
 * The runs: a backup, deployments, a backup and then deployments, or a watch, which triggers nothing. A run is the parent of
 * its operations, and fails unless its outcome is `completed`: the UI then shows it red, and a schedule can pause on it.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import { lockIdOf } from '../../contract/ids.ts';
import type { RunType } from '../../contract/names.ts';
import { reportedDeployment, type OperatedDeployment } from '../../contract/operation.ts';
import type { RunInput, RunResult } from '../../contract/run.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { emptyDeployment } from '../../contract/results.ts';
import { targetsOf, targetText, type Target } from '../../contract/target.ts';
import { observeCancellation, observeEnding } from '../cancellation.ts';
import { endUnchecked, letWorkerCheck, stateOrError } from '../check-worker.ts';
import { concludeInternal, conclude, endWith, resultOrFailure, worst, type Conclusion } from '../conclusion.ts';
import { countRun } from '../metrics.ts';
import type { OperationHooks } from '../operation/hooks.ts';
import { concludeReset, mayHaveSent, unlessReset } from '../reset.ts';
import { admit } from './admit.ts';
import { backUp, renewBackup } from './backup-step.ts';
import type { RunHooks, RunPart } from './hooks.ts';
import {
  admissionReadsOf,
  createRunState,
  deadlineBefore,
  newRunResult,
  noteRead,
  type RunState,
} from './run-state.ts';
import { deadlineOf, whyTooLate } from '../../rules/deadline.ts';
import { attempt, notStarted, operate, record, sharedInput } from './part.ts';
import { watch } from './watch.ts';

export const createRuns = (hooks: RunHooks, ofOperations: OperationHooks) => ({
  /** Never deploys unless this run has read its backup as completed. */
  backupThenDeploy: (input: RunInput) =>
    execute('backupThenDeploy', input, hooks, async (run) => {
      const late = run.targets.length === 0 ? null : whyTooLate(deadlineBefore(run), Date.now());
      // Its backup would be of no use.
      if (late !== null) return [conclude('not_started', 'TooLate', `nothing was started: ${late}`)];
      const backup = await backUp(run, serverOf(input));
      return backup.outcome === 'completed' && !run.cancellation.requested ? deployAll(run) : [backup];
    }),
  backupOnly: (input: RunInput) =>
    execute('backupOnly', input, hooks, async (run) => [await backUp(run, serverOf(input))]),
  deployOnly: (input: RunInput) => execute('deployOnly', input, hooks, deployAll),
  watchDeployment: (input: RunInput) =>
    execute('watchDeployment', input, hooks, async (run) => [await watch(run, ofOperations.checks)]),
});

function serverOf({ serverId }: RunInput): string {
  if (serverId === undefined) throw new Error('the input was not validated');
  return serverId;
}

type RunSteps = (run: RunState) => Promise<Conclusion[]>;

async function execute(type: RunType, input: RunInput, hooks: RunHooks, steps: RunSteps): Promise<RunResult> {
  const cancellation = observeEnding(observeCancellation());
  const beganMs = Date.now();
  return CancellationScope.nonCancellable(async () => {
    const question = { begins: true, request: { type, input }, atMs: beganMs } as const;
    const checked = await letWorkerCheck(question, () => ({ ...input, targets: targetsOf(input) }));
    const known = { type, input, cancellation };
    const run = 'error' in checked ? checked : stateOrError(() => createRunState({ ...known, ...checked }, hooks));
    if ('error' in run) return endUnchecked(newRunResult(null), run.error);
    const ended = unlessReset(await runSteps(run, beganMs, steps).catch(concludeInternal));
    const { error } = endWith(run.result, ended.outcome === null ? ended : withOtherParts(run.result, ended));
    for (const check of run.checks) check.ended?.();
    run.setOperation(null);
    run.setPhase('done');
    countRun(run.result);
    for (const observer of run.observers) await observer.ended?.();
    await condition(allHandlersFinished);
    return resultOrFailure(run.result, error);
  });
}

/** Gives an outcome to the parts that the run did not start. @returns the conclusion with them */
function withOtherParts({ backup, deployments }: RunResult, ended: Conclusion): Conclusion {
  const others = deployments.filter(({ outcome }) => outcome === null || outcome === 'not_started');
  const isUnknown = (others.length > 0 || backup?.outcome === 'not_started') && mayHaveSent();
  if (!isUnknown) {
    for (const part of others) part.outcome = 'not_started';
    return ended;
  }
  if (backup?.outcome === 'not_started') backup.outcome = 'unknown';
  for (const part of others) Object.assign(part, concludeReset(part.error?.message));
  return worst([ended, concludeReset(ended.error?.message)]);
}

async function runSteps(run: RunState, beganMs: number, steps: RunSteps): Promise<Conclusion> {
  const refusal = await admit(run, beganMs);
  const conclusion = worst(refusal === null ? await steps(run) : [refusal]);
  const isWhole = [conclusion, ...run.result.deployments].every(({ outcome }) => outcome === 'completed');
  const { requested, instead } = run.cancellation;
  if (!requested || isWhole) return conclusion;
  if (instead !== null && !hasEndedBadly(conclusion)) return instead();
  const message = conclusion.error?.type === 'Cancelled' ? conclusion.error.message : 'cancelled';
  const cancelled = conclude(hasRequested(run.result) ? 'cancelled' : 'not_started', 'Cancelled', message);
  // A newer run may have replaced its deployment. A run that was cancelled by then ends `cancelled` all the same.
  return conclusion.error?.type === 'Superseded' ? cancelled : worst([conclusion, cancelled]);
}

/** Whether a part failed by itself. A newer run does not repair that. */
const hasEndedBadly = ({ outcome }: Conclusion): boolean =>
  outcome !== 'cancelled' && outcome !== 'not_started' && outcome !== 'completed';

/** Whether a request was sent that may have had an effect. */
const hasRequested = ({ backup, deployments }: RunResult): boolean =>
  [backup, ...deployments].some((it) => it !== null && it.trigger.attempts > 0 && it.outcome !== 'not_started');

/* The deployments of a run, one after another. Without `keepGoing`, the first that is not completed stops the run. */

async function deployAll(run: RunState): Promise<Conclusion[]> {
  const conclusions: Conclusion[] = [];
  for (const target of run.targets) {
    const part: RunPart = { kind: 'deployment', target };
    const conclusion = await attempt(run, part, () => deploy(run, part, target), renewBackup);
    conclusions.push(conclusion);
    const { backup } = run.result;
    // Nothing is deployed without a completed backup.
    const isBackedUp = backup === null || backup.outcome === 'completed';
    const mayGoOn = isBackedUp && (conclusion.outcome === 'completed' || run.plan.keepGoing);
    if (run.cancellation.requested || !mayGoOn) break;
  }
  return conclusions;
}

async function deploy(run: RunState, part: RunPart, target: Target): Promise<Conclusion> {
  const { input, limits, plan } = run;
  const deadline = deadlineOf(limits);
  const late = whyTooLate(deadline, Date.now());
  if (late !== null) {
    const message = `${targetText(target)} was not deployed: ${late}`;
    return notStarted(run, part, conclude('not_started', 'TooLate', message));
  }
  for (const hold of run.holds) {
    const refusal = hold.refusePart?.(part) ?? null;
    if (refusal !== null) return notStarted(run, part, refusal);
  }
  const lockId = lockIdOf(target);
  const { admissionRead, earlierAnswers } = admissionReadsOf(run, target);
  const known = { admissionRead, ...(earlierAnswers.length > 0 ? { earlierAnswers } : {}) };
  const own = { target, ...known, ...definedFields({ serverId: input.serverId }), ...plan.deploy, deadline };
  const wanted = { ...sharedInput(run, part, lockId), ...own };
  run.setPhase('deploy');
  const operated = await operate<OperatedDeployment>(run, part, wanted, emptyDeployment(target));
  if (!('outcome' in operated)) throw new Error('the operation of a deployment ended without an outcome');
  for (const answer of operated.readAnswers ?? []) noteRead(run, target, 'status', answer);
  let ended = { ...reportedDeployment(operated), error: operated.error };
  for (const hold of run.holds) hold.deployed?.(ended);
  for (const check of run.checks) ended = { ...ended, ...check.judge(ended) };
  record(run, target, ended);
  return ended;
}
