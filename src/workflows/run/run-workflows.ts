/**
 * The runs: a backup, deployments, a backup and then deployments, or a watch, which triggers nothing. A run is the parent of
 * its operations, and fails unless its outcome is `completed`: the UI then shows it red, and a schedule can pause on it.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { RunType } from '../../contract/names.ts';
import type { RunInput, RunResult } from '../../contract/run.ts';
import { targetsOf } from '../../contract/target.ts';
import { observeCancellation } from '../cancellation.ts';
import { endUnchecked, letWorkerCheck } from '../check-worker.ts';
import { concludeInternal, conclude, end, resultOrFailure, worst, type Conclusion } from '../conclusion.ts';
import { reportRun } from '../metrics.ts';
import type { OperationHooks } from '../operation/hooks.ts';
import { admit } from './admit.ts';
import { backUp } from './backup-step.ts';
import { deployAll } from './deploy-step.ts';
import type { RunHooks } from './hooks.ts';
import { createRunState, newRunResult, type RunState } from './run-state.ts';
import { watch } from './watch.ts';

type Run = (input: RunInput) => Promise<RunResult>;

export interface RunWorkflows {
  /** Never deploys unless this run has read its backup as completed. */
  backupThenDeploy: Run;
  backupOnly: Run;
  deployOnly: Run;
  /** Follows a deployment that something else starts, such as a push. */
  watchDeployment: Run;
}

export const createRuns = (hooks: RunHooks, ofOperations: OperationHooks): RunWorkflows => ({
  backupThenDeploy: (input) =>
    execute('backupThenDeploy', input, hooks, async (run) => {
      const backup = await backUp(run, serverOf(input));
      return backup.outcome === 'completed' && !run.cancellation.requested ? deployAll(run) : [backup];
    }),
  backupOnly: (input) => execute('backupOnly', input, hooks, async (run) => [await backUp(run, serverOf(input))]),
  deployOnly: (input) => execute('deployOnly', input, hooks, deployAll),
  watchDeployment: (input) =>
    execute('watchDeployment', input, hooks, async (run) => [await watch(run, ofOperations.checks)]),
});

function serverOf({ serverId }: RunInput): string {
  if (serverId === undefined) throw new Error('the input was not validated');
  return serverId;
}

/** Executes a run. @returns the conclusions of its parts, in order */
type RunSteps = (run: RunState) => Promise<Conclusion[]>;

async function execute(type: RunType, input: RunInput, hooks: RunHooks, steps: RunSteps): Promise<RunResult> {
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
