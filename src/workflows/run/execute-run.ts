/**
 * What all runs share. A run is the parent of its operations: it validates its input, executes its steps, and fails
 * unless the outcome is `completed`. The failure makes the UI show it red, and lets a schedule pause on it.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { RunInput, RunResult } from '../../contract/run.ts';
import { targetsOf } from '../../contract/target.ts';
import { observeCancellation } from '../cancellation.ts';
import { endUnchecked, letWorkerCheck } from '../check-worker.ts';
import { admit } from './admit-run.ts';
import { concludeInternal, conclude, end, resultOrFailure, worst, type Conclusion } from '../conclusion.ts';
import { reportRun } from '../metrics.ts';
import type { RunType } from '../../contract/names.ts';
import type { RunHooks } from './hooks.ts';
import { newRunResult, createRunState, type RunState } from './run-state.ts';

/** Executes a run. @returns the conclusions of its parts, in order */
export type RunSteps = (run: RunState) => Promise<Conclusion[]>;

export async function execute(type: RunType, input: RunInput, hooks: RunHooks, steps: RunSteps): Promise<RunResult> {
  const cancellation = observeCancellation();
  const begunMs = Date.now();
  return CancellationScope.nonCancellable(async () => {
    const question = { begins: true, request: { type, input }, atMs: begunMs } as const;
    const checked = await letWorkerCheck(question, () => ({ ...input, targets: targetsOf(input) }));
    if ('error' in checked) return endUnchecked(newRunResult(null), checked.error);
    const run = createRunState({ type, input, ...checked, cancellation }, hooks);
    const { outcome, error } = end(run.result, await runSteps(run, begunMs, steps).catch(concludeInternal));
    for (const deployment of run.result.deployments) deployment.outcome ??= outcome === null ? null : 'not_started';
    for (const check of run.checks) check.ended?.();
    run.setOperation(null);
    run.setPhase('done');
    reportRun(run.result);
    for (const observer of run.observers) await observer.ended?.();
    await condition(allHandlersFinished);
    return resultOrFailure(run.result, error);
  });
}

async function runSteps(run: RunState, begunMs: number, steps: RunSteps): Promise<Conclusion> {
  const refusal = await admit(run, begunMs);
  const conclusion = worst(refusal === null ? await steps(run) : [refusal]);
  const isWhole = [conclusion, ...run.result.deployments].every(({ outcome }) => outcome === 'completed');
  const { requested, instead } = run.cancellation;
  if (!requested || isWhole) return conclusion;
  if (instead !== null && conclusion.outcome !== 'failed') return instead();
  const message = conclusion.error?.type === 'Cancelled' ? conclusion.error.message : 'cancelled';
  return worst([conclusion, conclude(hasRequested(run.result) ? 'cancelled' : 'not_started', 'Cancelled', message)]);
}

const hasRequested = ({ backup, deployments }: RunResult): boolean =>
  [backup, ...deployments].some((it) => it !== null && it.trigger.attempts > 0);
