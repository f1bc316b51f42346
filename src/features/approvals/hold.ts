/** A run asks people once, after its wait for freezes and before its backup. It holds no lock meanwhile. */
import { APPROVALS_FACT, type ApprovalPlan, type ApprovalRule, type Approved, type PlannedPart } from './shapes.ts';
import { factOf } from '../../contract/facts.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { targetText } from '../../contract/target.ts';
import { lateness } from '../../rules/deadline.ts';
import { expiry, goodUntilMs, approvedForTarget, plannedPartOf, summaryOf } from './rules.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import { wasReset } from '../../workflows/reset.ts';
import type { Hold } from '../../workflows/run/hooks.ts';
import { deadlineBefore, type RunState } from '../../workflows/run/run-state.ts';
import { ask, concludeUnapproved, refuseUnasked, listenForAnswers, notifyOfApproval, planOf } from './workflow.ts';

export function approvalHold(run: RunState): Hold {
  const { cancellation, facts, input, result } = run;
  const approvals = listenForAnswers();
  /** What was approved for this run or for its rollout. */
  const approved: Approved[] = [...(input.approved ?? [])];
  const answer = factOf(facts, APPROVALS_FACT);
  const rules = answer === undefined || 'error' in answer ? null : answer.rules;
  let isAsked = false;
  let forTarget: ReturnType<typeof approvedForTarget> | undefined;

  /** @returns null once everyone has approved, or if the run was reset and therefore sends nothing */
  async function askPeople(rulesOfRun: ApprovalRule[]): Promise<Conclusion | null> {
    const deadline = deadlineBefore(run);
    const part = plannedPartOf(input);
    const end = await ask(approvals, result, {
      plan: planOfRun(run, part, rulesOfRun),
      parts: [part],
      isOver: () => cancellation.requested || wasReset(),
      deadlineMs: deadline === null ? Infinity : Date.parse(deadline.at) + 1,
      onChange: (waiting) => run.setWaiting(waiting),
      notify: (about, question) => notifyOfApproval(facts.notify ?? null, about, question, [part]),
    });
    if (end.kind === 'over' && !cancellation.requested) return null;
    if (end.kind !== 'approved') return concludeUnapproved(end, () => lateness(deadline, Date.now()));
    approved.push({ ...end.approved, part: { ...part, path: [] } });
    return null;
  }

  return {
    refuse: () => refuseUnasked(answer),
    awaitsPeople: () => rules !== null && !isAsked,
    async begin() {
      if (rules === null || isAsked || wasReset()) return null;
      isAsked = true;
      const unapproved = await run.during('approval', () => askPeople(rules));
      // The answer may take days, and a freeze may have begun.
      return unapproved ?? 'waited';
    },
    untilMs: () => goodUntilMs(approved),
    refusePart(part) {
      const expired = part.kind === 'backup' ? null : expiry(approved, Date.now());
      if (part.kind === 'backup' || expired === null) return null;
      return conclude('not_started', 'ApprovalExpired', `${targetText(part.target)} was not deployed: ${expired}`);
    },
    carries(part) {
      if (part.kind === 'backup' || approved.length === 0) return {};
      forTarget ??= approvedForTarget(approved);
      return { approved: forTarget(part.target) };
    },
  };
}

function planOfRun(run: RunState, part: PlannedPart, rules: ApprovalRule[]): ApprovalPlan {
  const { type, input, plan } = run;
  const { service } = run.service;
  const what = { service, type, serverId: part.serverId, parts: summaryOf([part]), wave: null };
  const options = { ...plan, ...definedFields({ deploysUntil: input.deploysUntil }) };
  return planOf({ ...what, options, commit: plan.commit, rules }, input);
}
