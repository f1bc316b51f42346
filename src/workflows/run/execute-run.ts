/**
 * What all runs share. A run is the parent of its operations: it validates its input, executes its steps, and fails
 * unless the outcome is `completed`. The failure makes the UI show it red, and lets a schedule pause on it.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { RunInput, RunResult } from '../../contract/run.ts';
import { isUnseen } from '../../contract/wording/check-text.ts';
import { observeCancellation } from '../common/cancellation.ts';
import { endUnchecked, letWorkerCheck } from '../common/check-request.ts';
import { admit, type Asked } from './admission/admit-run.ts';
import { concludeInternal, conclude, end, resultOrFailure, worst, type Conclusion } from '../common/conclusion.ts';
import { reportRun } from '../common/report.ts';
import { concludeSuperseded } from '../common/superseding.ts';
import type { RunType } from '../../contract/names.ts';
import { newRunResult, createRunState, type RunState } from './state/run-state.ts';
import { announceRun } from './announce-run.ts';

/** Executes a run. @returns the conclusions of its parts, in order */
export type RunSteps = (run: RunState) => Promise<Conclusion[]>;

export async function execute(type: RunType, input: RunInput, steps: RunSteps): Promise<RunResult> {
  const cancellation = observeCancellation();
  const begunMs = Date.now();
  return CancellationScope.nonCancellable(async () => {
    const checked = await letWorkerCheck({ begins: true, request: { type, input }, atMs: begunMs });
    if ('error' in checked) return endUnchecked(newRunResult(null), checked.error);
    const { plan, facts } = checked;
    const run = createRunState(type, input, { plan, cancellation });
    const { outcome, error } = end(run.result, await runSteps(run, { begunMs, facts }, steps).catch(concludeInternal));
    for (const deployment of run.result.deployments) deployment.outcome ??= outcome === null ? null : 'not_started';
    run.result.commitSeen = commitSeen(run.result);
    run.setOperation(null);
    run.setWaiting(null);
    const report = run.report;
    run.report = null;
    run.setPhase('done');
    await report?.update();
    reportRun(run.result);
    await announceRun(run);
    await condition(allHandlersFinished);
    return resultOrFailure(run.result, error);
  });
}

function commitSeen({ commit, deployments }: RunResult): boolean | null {
  const deployed = deployments.filter(({ outcome }) => outcome === 'completed');
  return commit === null || deployed.length === 0 ? null : !deployed.some(isUnseen);
}

async function runSteps(run: RunState, asked: Asked, steps: RunSteps): Promise<Conclusion> {
  run.setPhase('checking');
  const refusal = await admit(run, asked);
  const conclusion = worst(refusal === null ? await steps(run) : [refusal]);
  const isWhole = [conclusion, ...run.result.deployments].every(({ outcome }) => outcome === 'completed');
  if (!run.cancellation.requested || isWhole) return conclusion;
  const { by } = run.superseding;
  if (by !== null && conclusion.outcome !== 'failed') {
    run.result.supersededBy = by;
    return concludeSuperseded(by);
  }
  const message = conclusion.error?.type === 'Cancelled' ? conclusion.error.message : 'cancelled';
  return worst([conclusion, conclude(hasRequested(run.result) ? 'cancelled' : 'not_started', 'Cancelled', message)]);
}

const hasRequested = ({ backup, deployments }: RunResult): boolean =>
  [backup, ...deployments].some((it) => it !== null && it.trigger.attempts > 0);
