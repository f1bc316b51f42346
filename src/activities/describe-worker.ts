/** What a worker answers to a run, rollout or schedule that begins: its settings, and what it thinks of the input. */
import type { WorkerInfo, WorkerQuestion } from '../contract/activities.ts';
import { definedFields } from '../contract/plain-object.ts';
import { ROLLOUT_TYPE } from '../contract/names.ts';
import { approvalsOf } from './approvals.ts';
import { checkRequest, outsideInventory } from './check-request.ts';
import type { ActivityDeps } from './deps.ts';
import { judgeRequest } from './frozen-parts.ts';
import { gatesAsked } from './gates.ts';
import { reportsAsked, unusedCommit } from './reports.ts';
import { checksAsked } from './site-checks.ts';

type Deps = Pick<ActivityDeps, 'workerInfo' | 'admission' | 'policy' | 'judge' | 'approvals' | 'clocks'>;

export function createDescribeWorker({ workerInfo, admission, policy, judge, approvals, clocks }: Deps) {
  /** Settings of the worker that executes this. */
  return async (question: WorkerQuestion = {}): Promise<WorkerInfo> => {
    const { begins = false, request, atMs } = question;
    const inForce = await policy();
    const { hash, checkOf } = inForce;
    const known = { policy: inForce, workerInfo };
    const checked = request === undefined ? undefined : checkRequest(request);
    const isPlanned = checked !== undefined && 'plan' in checked;
    const nowMs = atMs ?? clocks?.wallMs() ?? Date.now();
    const isAsked = isPlanned && (begins || request?.type === ROLLOUT_TYPE);
    const usageProblem = isAsked
      ? (outsideInventory(request!, inForce) ?? unusedCommit(request!, known) ?? undefined)
      : undefined;
    const judged = isPlanned ? await judgeRequest(question, judge, nowMs) : {};
    const asked = isPlanned ? await approvalsOf(question, { service: workerInfo.service, atMs: nowMs }, approvals) : {};
    const gated = isPlanned ? await gatesAsked(request!, inForce) : {};
    return {
      ...workerInfo,
      policy: hash,
      ...definedFields({ checked }),
      ...(isAsked ? checksAsked(request!, checkOf) : {}),
      ...judged,
      ...asked,
      ...gated,
      ...(isPlanned && begins ? reportsAsked(request!, checked, known) : {}),
      ...definedFields({ usageProblem }),
      ...(begins && !admission.admitsNewcomer() ? { admitted: false as const } : {}),
    };
  };
}
