/** A run asks once, after the question of freezes and before its backup. It holds nothing meanwhile. */
import { workflowInfo } from '@temporalio/workflow';
import type { ApprovalPlan, ApprovalRule, RulesAnswer } from '../../contract/approval.ts';
import { expiredText, rejectedText } from '../../contract/wording/approval-text.ts';
import { lateness } from '../../rules/deadline.ts';
import { ask, type ApprovalEnd } from '../common/approvals.ts';
import { conclude, type Conclusion } from '../common/conclusion.ts';
import { notifyOfApproval } from '../notify/notify-of-approval.ts';
import { sameOverride } from '../../request/start/start-options.ts';
import { serviceOf } from './operation-input.ts';
import type { RunState } from './run-state.ts';
import { deadlineBefore } from './wait-for-thaw.ts';

/** @param answer what the worker said when the run began. @returns why the run ends, or null */
export const refuseUnasked = (answer: RulesAnswer | undefined): Conclusion | null =>
  answer !== undefined && 'error' in answer ? conclude('not_started', answer.error.type, answer.error.message) : null;

/** @returns null once everyone has approved, else why the run ends */
export async function waitForApproval(run: RunState, rules: ApprovalRule[]): Promise<Conclusion | null> {
  const { result, cancellation } = run;
  const phase = result.phase ?? 'checking';
  run.setPhase('approval');
  const deadline = deadlineBefore(run);
  const end = await ask(run.approvals, result, {
    plan: planOf(run, rules),
    isOver: () => cancellation.requested,
    deadlineMs: deadline === null ? Infinity : Date.parse(deadline.at) + 1,
    onChange: (waiting) => run.setWaiting(waiting),
    notify: (about, question) => notifyOfApproval(run.notify, about, question),
  });
  run.setWaiting(null);
  run.setPhase(phase);
  if (end.kind !== 'approved') return concludeUnapproved(end, () => lateness(deadline, Date.now()));
  run.approved.push(end.approved);
  return null;
}

function concludeUnapproved(end: Exclude<ApprovalEnd, { kind: 'approved' }>, late: () => string | null): Conclusion {
  switch (end.kind) {
    case 'rejected':
      return conclude('not_started', 'ApprovalRejected', rejectedText(end));
    case 'expired':
      return conclude('not_started', 'ApprovalExpired', expiredText(end.question.asked));
    case 'late':
      return conclude('not_started', 'TooLate', `it was not approved: ${late() ?? 'its time is over'}`);
    case 'over':
      return conclude('not_started', 'Cancelled', 'cancelled before it was approved');
  }
}

function planOf(run: RunState, rules: ApprovalRule[]): ApprovalPlan {
  const { namespace, workflowId, firstExecutionRunId } = workflowInfo();
  const { type, input, targets, plan } = run;
  return {
    version: 1,
    namespace,
    workflowId,
    executionId: firstExecutionRunId,
    service: serviceOf(run).service,
    type,
    serverId: input.serverId ?? null,
    targets: [...targets],
    parts: null,
    wave: null,
    options: plan,
    commit: plan.commit ?? null,
    override: sameOverride(input.override) ?? null,
    rules,
    askedAt: new Date().toISOString(),
  };
}
