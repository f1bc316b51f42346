/** What people have to approve, and whether an answer counts. */
import { ApplicationFailure } from '@temporalio/common';
import type { WorkerInfo, WorkerQuestion } from '../contract/activities.ts';
import type { ApprovalCheck, ApprovalRule, CheckedApproval, RulesAnswer, WaveRule } from '../contract/approval.ts';
import { ROLLOUT_TYPE } from '../contract/names.ts';
import { definedFields } from '../contract/plain-object.ts';
import type { RolloutInput } from '../contract/rollout.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf, type TargetsInput } from '../contract/target.ts';
import { messageOf } from '../contract/wording/message-of.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import type { ApprovalJudge } from '../policy/approval-judge.ts';
import { askedWhen } from '../rules/policy/asked-when.ts';

type Asked = Pick<WorkerInfo, 'approval'>;

/**
 * Of a run or rollout that begins. Empty if no one has to approve it.
 *
 * @throws ApplicationFailure that is retried if this worker cannot tell, but another one may
 */
export const approvalsOf = (...asked: Parameters<typeof rulesOf>): Promise<Asked> =>
  rulesOf(...asked).catch((error: unknown) => {
    throw ApplicationFailure.create({ type: 'Approvals', message: messageOf(error) });
  });

async function rulesOf(
  { begins, request }: WorkerQuestion,
  { service, atMs }: { service: string; atMs: number },
  approvals: ApprovalJudge,
): Promise<Asked> {
  if (request?.type === ROLLOUT_TYPE) return asked(await rolloutRules(request.input as RolloutInput, approvals));
  if (request === undefined || begins !== true || request.type === 'watchDeployment') return {};
  const input = request.input as RunInput;
  if (targetsOf(input).length === 0) return {};
  if (input.approved !== undefined) return definedFields({ approval: await given(input, service, approvals, atMs) });
  return asked(await approvals.rulesFor(operationsOf([input]), input.approval));
}

function asked(answer: RulesAnswer): Asked {
  const isNone = 'rules' in answer && answer.rules.length === 0 && (answer.waves ?? []).length === 0;
  return isNone ? {} : { approval: answer };
}

async function rolloutRules({ fleet, waves, approval }: RolloutInput, approvals: ApprovalJudge): Promise<RulesAnswer> {
  const rules = new Map<string, ApprovalRule>();
  const needs: Parameters<typeof askedWhen>[1][number][] = [];
  for (const { name: wave, approval: named, targets } of waves) {
    const ofServers = await approvals.rulesFor(operationsOf(targets.map((it) => ({ ...it, fleet }))), approval);
    if ('error' in ofServers) return ofServers;
    const ofWave = named === undefined ? { rules: [] } : await approvals.rulesFor([], named);
    if ('error' in ofWave) return ofWave;
    for (const rule of [...ofServers.rules, ...ofWave.rules]) rules.set(rule.name, rule);
    needs.push({ wave, named, needed: ofServers.rules.map(({ name }) => name) });
  }
  const { before, ofWaves } = askedWhen(approval, needs);
  const asked = ofWaves.map(({ wave, name }): WaveRule => ({ wave, rule: rules.get(name)! }));
  return { rules: before.map((name) => rules.get(name)!), ...(asked.length === 0 ? {} : { waves: asked }) };
}

/** What was approved for the rollout that starts this run has to be enough. */
async function given(
  input: RunInput,
  service: string,
  approvals: ApprovalJudge,
  atMs: number,
): Promise<RulesAnswer | undefined> {
  const { approved, serverId, fleet } = input;
  for (const target of targetsOf(input)) {
    const approvedAt = await approvals.look({ target, serverId, fleet, service, approved }, null);
    const error = approvedAt(atMs);
    if (error !== null) return { error };
  }
  return undefined;
}

const operationsOf = (inputs: readonly (TargetsInput & Pick<RunInput, 'serverId' | 'fleet'>)[]) =>
  inputs.flatMap(({ serverId, fleet, ...input }) => targetsOf(input).map((target) => ({ target, serverId, fleet })));

/** @throws ApplicationFailure that is not retried if it does not count */
export async function checkApproval(check: ApprovalCheck, approvals: ApprovalJudge): Promise<CheckedApproval> {
  const checked = await approvals.check(check);
  if ('rules' in checked) return checked;
  throw ApplicationFailure.create({ type: 'Usage', message: plainText(checked.problem, 400), nonRetryable: true });
}
