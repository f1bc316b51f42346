/** Replays a trace of docs/spec/deployment.qnt with the workflows. */
import type { Sandboxes } from '../../sim/core/sdk.ts';
import { actionOf, type DeploymentState } from './deployment-model.ts';
import { DEPLOYMENT_MOVES } from './deployment-moves.ts';
import { planOf } from './deployment-plan.ts';
import { differences } from './deployment-shown.ts';
import { createDeploymentStage } from './deployment-stage.ts';
import type { Step } from './itf.ts';
import { replaySteps } from './replay-steps.ts';

/** @throws Divergence */
export async function replayDeployment(sandboxes: Sandboxes, steps: readonly Step<DeploymentState>[]): Promise<void> {
  const until = steps.findIndex(({ action }) => action === 'passDeadline');
  // The deadline is input of the runs, so the steps before it are played twice: at first to learn when it passes.
  const deadlineMs = until < 0 ? null : await replay(sandboxes, steps, until, null);
  await replay(sandboxes, steps, steps.length, deadlineMs);
}

/** @param length how many of the steps are played @returns the time at its end */
async function replay(
  sandboxes: Sandboxes,
  steps: readonly Step<DeploymentState>[],
  length: number,
  deadlineMs: number | null,
): Promise<number> {
  const stage = createDeploymentStage(sandboxes, planOf(steps, deadlineMs));
  return replaySteps(steps.slice(0, length), {
    stage,
    move(named, before, after) {
      const action = actionOf(named, before, after);
      const number = before.holder === 0 ? after.holder : before.holder;
      return { name: `${action}(${number})`, done: DEPLOYMENT_MOVES[action]({ stage, number, before, after }) };
    },
    differences: (state) => differences(sandboxes, stage, state),
  });
}
