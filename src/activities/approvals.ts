/** What people have to approve, and whether an answer counts. */
import { ApplicationFailure } from '@temporalio/common';
import type { WorkerInfo, WorkerQuestion } from '../contract/activities.ts';
import type { ApprovalCheck, CheckedApproval, RulesAnswer } from '../contract/approval.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf, type TargetsInput } from '../contract/target.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import type { ApprovalJudge } from '../policy/approval-judge.ts';

type Asked = Pick<WorkerInfo, 'approval'>;

/** Of a run that begins, also for a rollout. Empty if no one has to approve it. */
export async function approvalsOf({ begins, request }: WorkerQuestion, approvals: ApprovalJudge): Promise<Asked> {
  if (request === undefined || begins !== true || request.type === 'watchDeployment') return {};
  const input = request.input as RunInput;
  if (targetsOf(input).length === 0) return {};
  return asked(await approvals.rulesFor(operationsOf([input]), input.approval));
}

const asked = (answer: RulesAnswer): Asked =>
  'rules' in answer && answer.rules.length === 0 ? {} : { approval: answer };

const operationsOf = (inputs: readonly (TargetsInput & { serverId?: string })[]) =>
  inputs.flatMap(({ serverId, ...input }) => targetsOf(input).map((target) => ({ target, serverId })));

/** @throws ApplicationFailure that is not retried if it does not count */
export async function checkApproval(check: ApprovalCheck, approvals: ApprovalJudge): Promise<CheckedApproval> {
  const checked = await approvals.check(check);
  if ('rules' in checked) return checked;
  throw ApplicationFailure.create({ type: 'Usage', message: plainText(checked.problem, 400), nonRetryable: true });
}
