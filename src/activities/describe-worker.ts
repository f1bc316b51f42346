/** What a worker answers to a run, rollout or schedule that begins: its settings, and what it thinks of the input. */
import type { WorkerInfo, WorkerQuestion } from '../contract/activities.ts';
import type { Facts } from '../contract/facts.ts';
import { definedFields } from '../contract/plain-object.ts';
import { ROLLOUT_TYPE } from '../contract/names.ts';
import { checkRequest, outsideInventory } from './check-request.ts';
import type { ActivityDeps } from './deps.ts';
import type { Asked, Fact, Known } from './fact.ts';

type Deps = Pick<ActivityDeps, 'workerInfo' | 'admission' | 'policy' | 'judge' | 'approvals' | 'clocks'>;

export function createDescribeWorker(deps: Deps, facts: readonly Fact[]) {
  const { workerInfo, admission, policy, judge, approvals, clocks } = deps;
  /** Settings of the worker that executes this. */
  return async (question: WorkerQuestion = {}): Promise<WorkerInfo> => {
    const { begins = false, hasPlace = false, request, atMs = clocks?.wallMs() ?? Date.now() } = question;
    const inForce = await policy();
    const checked = request === undefined ? undefined : checkRequest(request);
    const isRefused = request === undefined || checked === undefined || 'problem' in checked;
    const asked = isRefused ? null : { request, plan: checked.plan, begins, atMs };
    const known = { policy: inForce, workerInfo, judge, approvals };
    return {
      ...workerInfo,
      policy: inForce.hash,
      ...definedFields({ checked }),
      ...(asked === null ? {} : await said(asked, known, facts)),
      ...(begins && !hasPlace && !admission.admitsNewcomer() ? { admitted: false as const } : {}),
    };
  };
}

async function said(
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
  const isAsked = begins || request.type === ROLLOUT_TYPE;
  const misuses = isAsked ? list.map(({ misuse }) => misuse?.(asked, known) ?? null) : [];
  const usageProblem = isAsked
    ? (outsideInventory(request, known.policy) ?? misuses.find((it) => it !== null) ?? undefined)
    : undefined;
  return {
    ...(Object.keys(facts).length === 0 ? {} : { facts: facts satisfies Facts }),
    ...definedFields({ usageProblem }),
  };
}
