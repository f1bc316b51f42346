/**
 * What every run is: the parent of its operations. It checks what it was asked, tells its story, and fails where that
 * doesn't end `completed`, so that the UI shows it red and a schedule can pause on it.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { RunInput, RunResult, RunType } from '../../contract/run.ts';
import { problemOfInput } from '../../request/validate-run-input.ts';
import { admit } from './admit-run.ts';
import { defect, ended, resultOrFailure, type End } from '../common/conclusion.ts';
import { newRunResult, openRun, type Run } from './run-state.ts';
import { announceRun } from '../rollout/announce-rollout.ts';
import { worst } from '../rules/worst-outcome.ts';

/** The ends of a run's parts, in their order. */
export type Story = (run: Run) => Promise<End[]>;

export async function execute(type: RunType, input: RunInput, story: Story): Promise<RunResult> {
  const problem = problemOfInput(type, input);
  if (problem !== null) return resultOrFailure(newRunResult(null), { type: 'Usage', message: problem });
  const run = openRun(type, input);
  return CancellationScope.nonCancellable(async () => {
    const end = await tell(run, story).catch(defect);
    run.result.outcome = end.outcome;
    run.result.error = end.error;
    run.result.endedAt = new Date().toISOString();
    for (const deployment of run.result.deployments) deployment.outcome ??= end.outcome === null ? null : 'not_started';
    run.showOperation(null);
    run.show(null);
    run.enter('done');
    await announceRun(run);
    await condition(allHandlersFinished);
    return resultOrFailure(run.result, end.error);
  });
}

async function tell(run: Run, story: Story): Promise<End> {
  run.enter('checking');
  const refusal = await admit(run);
  const end = worst(refusal === null ? await story(run) : [refusal]);
  const isWhole = end.outcome === 'completed' && run.result.deployments.every(({ outcome }) => outcome === 'completed');
  if (!run.cancellation.requested || isWhole) return end;
  const message = end.error?.type === 'Cancelled' ? end.error.message : 'cancelled';
  return worst([end, ended('cancelled', 'Cancelled', message)]);
}
