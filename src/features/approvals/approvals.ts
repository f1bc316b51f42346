/** What people have to approve, and whether an answer counts. */
import { ApplicationFailure } from '@temporalio/common';
import {
  APPROVALS_FACT,
  type ApprovalCheck,
  type ApprovalRule,
  type CheckedApproval,
  type RulesAnswer,
  type WaveRule,
} from './shapes.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import type { RunInput } from '../../contract/run.ts';
import { targetsOf, type TargetsInput } from '../../contract/target.ts';
import { messageOf } from '../../contract/message-of.ts';
import { plainText } from '../../contract/safe-text.ts';
import type { Asked, Fact, Known } from '../../activities/fact.ts';
import { triggerFailure } from '../../activities/failures.ts';
import type { Permit } from '../../activities/post-checks.ts';
import type { ApprovalJudge } from './worker.ts';
import { askedWhen } from './asked-when.ts';

/** Only of a run or rollout that someone has to approve. Fails if this worker cannot tell, but another one may. */
export const approvalsFact: Fact<RulesAnswer> = {
  ...APPROVALS_FACT,
  ask: (asked, known) =>
    answerTo(asked, known).catch((error: unknown) => {
      throw ApplicationFailure.create({ type: 'Approvals', message: messageOf(error) });
    }),
};

async function answerTo({ request, begins, atMs }: Asked, { workerInfo, approvals }: Known) {
  if (request.type === ROLLOUT_TYPE) return unlessNone(await rolloutRules(request.input as RolloutInput, approvals));
  if (!begins || request.type === 'watchDeployment') return undefined;
  const input = request.input as RunInput;
  if (targetsOf(input).length === 0) return undefined;
  if (input.approved !== undefined) return given(input, workerInfo.service, approvals, atMs);
  return unlessNone(await approvals.rulesFor(operationsOf([input]), input.approval));
}

function unlessNone(answer: RulesAnswer): RulesAnswer | undefined {
  const isNone = 'rules' in answer && answer.rules.length === 0 && (answer.waves ?? []).length === 0;
  return isNone ? undefined : answer;
}

/** Judged by Temporal's clock, for the first and the last moment at which the request may leave. */
export const approvalPermit: Permit = async (input, { approvals, startedBy, activity }) => {
  // A backup alone needs no approval.
  if (!('target' in input)) return () => null;
  const approvedAt = await approvals
    .look(input, () => startedBy(activity))
    .catch((error: unknown) => {
      const why = plainText(messageOf(error));
      throw triggerFailure('Resting', `not sent: this worker cannot verify the approval (${why})`);
    });
  return (atMs) => {
    const problem = approvedAt(atMs);
    if (problem === null) return null;
    const type = problem.type === 'ApprovalExpired' ? 'ApprovalExpired' : 'NotApproved';
    return triggerFailure(type, `not sent: ${plainText(problem.message, MAX_REASON)}`);
  };
};

const MAX_REASON = 400;

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

export const createApprovals = ({ approvals }: { approvals: ApprovalJudge }) => ({
  /**
   * Whether an answer to a question counts, with this worker's signers.
   *
   * @throws ApplicationFailure that is not retried if it does not count
   */
  checkApproval: async (check: ApprovalCheck): Promise<CheckedApproval> => {
    const checked = await approvals.check(check);
    if ('rules' in checked) return checked;
    throw ApplicationFailure.create({ type: 'Usage', message: plainText(checked.problem, 400), nonRetryable: true });
  },
});
