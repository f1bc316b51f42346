/** A run asks once, after the question of freezes and before its backup. It holds nothing meanwhile. */
import type { ApprovalPlan, ApprovalRule, PlannedPart } from '../../../contract/approval.ts';
import { definedFields } from '../../../contract/plain-object.ts';
import { lateness } from '../../../rules/deadline.ts';
import { plannedPartOf, summaryOf } from '../../../rules/policy/planned-parts.ts';
import { ask } from '../../approval/ask.ts';
import { concludeUnapproved } from '../../approval/conclude-unapproved.ts';
import { notifyOfApproval } from '../../approval/notify-of-approval.ts';
import { planOf } from '../../approval/plan.ts';
import { wasReset } from '../../common/reset.ts';
import type { Conclusion } from '../../common/conclusion.ts';
import { serviceOf } from '../state/operation-input.ts';
import type { RunState } from '../state/run-state.ts';
import { deadlineBefore } from './wait-for-thaw.ts';

/** @returns null once everyone has approved, or once the run was reset and sends nothing; else why the run ends */
export async function waitForApproval(run: RunState, rules: ApprovalRule[]): Promise<Conclusion | null> {
  const { result, cancellation } = run;
  const phase = result.phase ?? 'checking';
  run.setPhase('approval');
  const deadline = deadlineBefore(run);
  const part = plannedPartOf(run.input);
  const end = await ask(run.approvals, result, {
    plan: planOfRun(run, part, rules),
    parts: [part],
    isOver: () => cancellation.requested || wasReset(),
    deadlineMs: deadline === null ? Infinity : Date.parse(deadline.at) + 1,
    onChange: (waiting) => run.setWaiting(waiting),
    notify: (about, question) => notifyOfApproval(run.notify, about, question, [part]),
  });
  run.setWaiting(null);
  run.setPhase(phase);
  if (end.kind === 'over' && !cancellation.requested) return null;
  if (end.kind !== 'approved') return concludeUnapproved(end, () => lateness(deadline, Date.now()));
  run.approved.push({ ...end.approved, part: { ...part, path: [] } });
  return null;
}

function planOfRun(run: RunState, part: PlannedPart, rules: ApprovalRule[]): ApprovalPlan {
  const { type, input, plan } = run;
  const { service } = serviceOf(run);
  const what = { service, type, serverId: part.serverId, parts: summaryOf([part]), wave: null };
  const options = { ...plan, ...definedFields({ deploysUntil: input.deploysUntil }) };
  return planOf({ ...what, options, commit: plan.commit ?? null, rules }, input);
}
