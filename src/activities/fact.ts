/**
 * What a worker answers to a run, rollout or schedule that begins: its settings, its plan of the request, and the facts that
 * features find in its configuration.
 */
import type { RunPlan, RunInput } from '../contract/run.ts';
import type { WorkerInfo, WorkflowRequest, WorkerQuestion, CheckedRequest } from '../contract/activities.ts';
import type { FactName, Facts } from '../contract/facts.ts';
import type { Judges } from './features.ts';
import type { Policy } from '../config/policy.ts';
import { definedFields } from '../contract/plain-object.ts';
import { ROLLOUT_TYPE, RUN_TYPES } from '../contract/names.ts';
import type { ActivityDeps } from './deps.ts';
import { partsOf, type RolloutInput } from '../features/rollouts/shapes.ts';
import { planRun } from '../request/run-options.ts';
import { validateRolloutInput } from '../request/input/rollout-input.ts';
import { validateRunInput } from '../request/input/run-input.ts';

export interface Asked {
  /** The request has passed its check. */
  request: WorkflowRequest;
  plan: RunPlan;
  /** True for a run that starts now. False for a rollout, and while a schedule is checked. */
  begins: boolean;
  /** When the workflow asks, by Temporal's clock. */
  atMs: number;
}

/** What the answer comes from. */
export interface Known extends Judges {
  policy: Policy;
  workerInfo: WorkerInfo;
}

export interface Fact<T = unknown> extends FactName<T> {
  /** @returns undefined if there is nothing to say. @throws Error that is retried if this worker cannot tell */
  ask: (asked: Asked, known: Known) => T | undefined | Promise<T | undefined>;
  /** Returns why the request makes no sense with this configuration, or null. */
  misuse?: (asked: Asked, known: Known) => string | null;
}

type Deps = Pick<ActivityDeps, 'workerInfo' | 'admission' | 'policy' | 'clocks'> & Judges;

export function createDescribeWorker(deps: Deps, facts: readonly Fact[]) {
  const { workerInfo, admission, policy, clocks } = deps;
  /** The answer of the worker that executes this. */
  return async (question: WorkerQuestion = {}): Promise<WorkerInfo> => {
    const { begins = false, hasPlace = false, request, atMs = clocks.wallMs() } = question;
    const inForce = await policy();
    const checked = request === undefined ? undefined : checkRequest(request);
    const isRefused = request === undefined || checked === undefined || 'problem' in checked;
    const asked = isRefused ? null : { request, plan: checked.plan, begins, atMs };
    const known = { ...deps, policy: inForce };
    return {
      ...workerInfo,
      policy: inForce.hash,
      ...definedFields({ checked }),
      ...(asked === null ? {} : await answersTo(asked, known, facts)),
      ...(begins && !hasPlace && !admission.admitNewcomer() ? { admitted: false as const } : {}),
    };
  };
}

async function answersTo(
  asked: Asked,
  known: Known,
  list: readonly Fact[],
): Promise<Pick<WorkerInfo, 'facts' | 'usageProblem'>> {
  const { begins, request } = asked;
  const facts: Record<string, unknown> = {};
  for (const { name, ask } of list) {
    const answer = await ask(asked, known);
    if (answer !== undefined) facts[name] = answer;
  }
  // A run that a schedule starts asks again when it begins.
  const usageProblem = begins || request.type === ROLLOUT_TYPE ? usageProblemOf(asked, known, list) : undefined;
  return {
    ...(Object.keys(facts).length === 0 ? {} : { facts: facts satisfies Facts }),
    ...definedFields({ usageProblem }),
  };
}

function usageProblemOf(asked: Asked, known: Known, list: readonly Fact[]): string | undefined {
  const misuses = list.map(({ misuse }) => misuse?.(asked, known) ?? null);
  return outsideInventory(asked.request, known.policy) ?? misuses.find((it) => it !== null) ?? undefined;
}

/* Checks what a workflow was asked to do, and fills in the defaults. Recorded, so that a limit or default can change. */

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

/** Checked here, whatever started the request, because the worker knows which site is on which server. */
function outsideInventory({ input }: WorkflowRequest, { refusalOf }: Pick<Policy, 'refusalOf'>): string | null {
  for (const part of partsOf(input as RunInput | RolloutInput)) {
    const refusal = refusalOf(part);
    if (refusal !== null) return refusal;
  }
  return null;
}
