/** Checks what a workflow was asked to do, and fills in the defaults. Recorded, so that a limit or default can change. */
import type { CheckedRequest, WorkflowRequest } from '../contract/activities.ts';
import { ROLLOUT_TYPE, RUN_TYPES } from '../contract/names.ts';
import { partsOf, type RolloutInput } from '../features/rollouts/shapes.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf } from '../contract/target.ts';
import type { Policy } from '../config/policy.ts';
import { planRun } from '../request/run-plan.ts';
import { validateRolloutInput } from '../request/input/rollout-input.ts';
import { validateRunInput } from '../request/input/run-input.ts';

export function checkRequest({ type, input }: WorkflowRequest): CheckedRequest {
  const problem = problemOf(type, input);
  if (problem !== null) return { problem };
  return { plan: planRun(type === ROLLOUT_TYPE ? {} : (input as RunInput)) };
}

function problemOf(type: unknown, input: unknown): string | null {
  if (type === ROLLOUT_TYPE) return validateRolloutInput(input);
  const runType = RUN_TYPES.find((it) => it === type);
  return runType === undefined ? 'is neither a run nor a rollout' : validateRunInput(runType, input);
}

/** Whatever started it: the worker knows which site is on which server. */
export function outsideInventory({ input }: WorkflowRequest, { refusalOf }: Pick<Policy, 'refusalOf'>): string | null {
  for (const { serverId, ...named } of partsOf(input as RunInput | RolloutInput)) {
    const refusal = refusalOf({ serverId, targets: targetsOf(named) });
    if (refusal !== null) return refusal;
  }
  return null;
}
