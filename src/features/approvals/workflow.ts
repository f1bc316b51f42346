/**
 * Asks people to approve a plan, and takes their answers. An open question is only a condition and a timer, so it holds
 * no lock, backup or worker.
 */
import { condition, workflowInfo, defineQuery, defineUpdate, setHandler } from '@temporalio/workflow';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import {
  type ApprovalPlan,
  type Approved,
  type PlannedPart,
  planHash,
  type ApprovalAnswer,
  type ApprovalQuestion,
  type CountedAnswer,
  type Decided,
  type RulesAnswer,
  APPROVALS_FACT,
  type ApprovalRule,
} from './shapes.ts';
import type { Held, FreezeOverride } from '../freezes/shapes.ts';
import { NO_REASON } from '../freezes/text.ts';
import type { WaitingForApproval } from '../../contract/waiting.ts';
import {
  isApproved,
  openQuestion,
  type OpenQuestion,
  countYes,
  problemOfAnswer,
  noLongerGoodText,
  goodUntilMs,
  approvedForTarget,
  plannedPartOf,
  summaryOf,
} from './rules.ts';
import {
  notProvenText,
  approvalSentence,
  factsOfPlan,
  fewPartLines,
  expiredText,
  rejectedText,
  type ShownQuestion,
} from './text.ts';
import { APPROVAL_UPDATES, QUERIES } from '../../contract/names.ts';
import { checkApproval } from '../../workflows/activity-proxies.ts';
import type { NotifySettings } from '../../contract/activities.ts';
import { approvalNoticeId } from '../../contract/ids.ts';
import type { ApprovalNotice } from '../notifications/shapes.ts';
import { announce } from '../../workflows/announce.ts';
import type { CheckWaiver } from '../site-checks/shapes.ts';
import { conclude, usageFailure, type Conclusion } from '../../workflows/conclusion.ts';
import { factOf } from '../../contract/facts.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { targetText } from '../../contract/target.ts';
import { whyTooLate } from '../../rules/deadline.ts';
import { wasReset } from '../../workflows/reset.ts';
import type { Hold } from '../../workflows/run/hooks.ts';
import { deadlineBefore, type RunState } from '../../workflows/run/run-state.ts';

export interface Asking {
  plan: ApprovalPlan;
  /** The servers and targets behind the plan's root hash. */
  parts: PlannedPart[];
  /** True once the question has become pointless. */
  isOver: () => boolean;
  /** When to give up in any case, in milliseconds since 1970. Default: when the question expires. */
  deadlineMs?: number;
  onChange: (waiting: WaitingForApproval) => void;
  notify: NotifySettings | undefined;
}

/** `late`: the deadline passed. `expired`: too few people approved in time. */
type ApprovalEnd =
  | { kind: 'approved'; approved: Approved }
  | { kind: 'rejected'; by: string; why: string }
  | { kind: 'expired'; question: OpenQuestion }
  | { kind: 'late' }
  | { kind: 'over' };

/** Records the wait in `held` of the result. */
export async function ask(
  questions: Questions,
  result: { held: Held[] },
  { plan, parts, isOver, deadlineMs = Infinity, onChange, notify }: Asking,
): Promise<ApprovalEnd> {
  questions.count += 1;
  const question = openQuestion(plan, planHash(plan), questions.count);
  const held = openHeld(result, question);
  const show = () => onChange(waitingOf(question));
  const tell = (about: ApprovalNotice['about']) => notifyOfApproval(notify, about, question, parts);
  questions.open = { question, parts, show };
  show();
  const isDone = () => question.rejected !== null || isApproved(question) || isOver();
  const untilDone = (ms: number) => condition(isDone, Math.max(1, ms), { summary: 'until people decide' });
  const untilMs = Math.min(question.endsMs, deadlineMs);
  const askedMs = Date.parse(plan.askedAt);
  const halfTimeMs = askedMs + Math.floor((question.endsMs - askedMs) / 2);
  await tell('asked');
  if (halfTimeMs < untilMs && !(await untilDone(halfTimeMs - Date.now()))) await tell('half_time');
  if (!isDone()) await untilDone(untilMs - Date.now());
  const end = endOf(question, isOver(), untilMs < question.endsMs);
  questions.open = null;
  closeHeld(held, question, end.kind);
  if (end.kind === 'approved') await tell('approved');
  return end;
}

function endOf(question: OpenQuestion, isOver: boolean, isDeadlineFirst: boolean): ApprovalEnd {
  const { plan, yeses, rejected } = question;
  if (rejected !== null) return { kind: 'rejected', by: rejected.by, why: rejected.why };
  if (isOver) return { kind: 'over' };
  if (isApproved(question)) return { kind: 'approved', approved: { plan, yeses } };
  return isDeadlineFirst ? { kind: 'late' } : { kind: 'expired', question };
}

function waitingOf({ hash, asked, plan, endsMs }: OpenQuestion): WaitingForApproval {
  return {
    kind: 'approval',
    workflowId: plan.workflowId,
    plan: hash,
    asked: asked.map((it) => ({ ...it, by: [...it.by] })),
    since: plan.askedAt,
    until: new Date(endsMs).toISOString(),
  };
}

function openHeld(result: { held: Held[] }, { plan }: OpenQuestion): Held[] {
  const held = plan.rules.map(({ name, need }): Held => ({
    for: 'approval',
    name,
    from: plan.askedAt,
    to: null,
    end: null,
    by: null,
    why: `${need} ${need === 1 ? 'approval is' : 'approvals are'} needed`,
  }));
  result.held.push(...held);
  return held;
}

const ENDS: Record<ApprovalEnd['kind'], Held['end']> = {
  approved: 'approved',
  rejected: 'rejected',
  expired: 'gave_up',
  late: 'gave_up',
  over: 'cancelled',
};

function closeHeld(
  held: readonly Held[],
  { asked, yeses, proven, rejected }: OpenQuestion,
  kind: ApprovalEnd['kind'],
): void {
  for (const it of held) {
    Object.assign(it, { to: new Date().toISOString(), end: ENDS[kind] });
    if (rejected !== null) {
      Object.assign(it, { by: rejected.by, why: rejected.why, proof: notProvenText(rejected.proven) });
      continue;
    }
    const by = asked.find(({ name }) => name === it.name)?.by ?? [];
    if (by.length === 0) continue;
    const reasons = yeses.flatMap((yes) => (by.includes(yes.by) && yes.why !== null ? [yes.why] : []));
    const proofs = [...new Set(by.map((name) => notProvenText(proven.get(name) ?? '')))];
    Object.assign(it, { by: by.join(', '), proof: proofs.join(', ') });
    it.why = reasons.length > 0 ? reasons.join('; ') : NO_REASON;
  }
}

/* Takes people's answers to the open question. Answers are updates, which a worker verifies. */

const approveUpdate = defineUpdate<CountedAnswer, [ApprovalAnswer]>(APPROVAL_UPDATES.approve);
const rejectUpdate = defineUpdate<CountedAnswer, [ApprovalAnswer]>(APPROVAL_UPDATES.reject);
const approvalQuery = defineQuery<ApprovalQuestion | null>(QUERIES.approval);

/** The questions of one workflow. A run asks once, and a rollout also before waves. */
export interface Questions {
  open: { question: OpenQuestion; parts: PlannedPart[]; show: () => void } | null;
  /** How many there were so far, including the open one. */
  count: number;
}

export function listenForAnswers(): Questions {
  const questions: Questions = { open: null, count: 0 };
  const take = (decision: Decided, update: typeof approveUpdate, description: string) =>
    setHandler(update, (answer) => decide(questions, decision, answer), {
      validator(answer: ApprovalAnswer) {
        const problem = problemOfAnswer(questions.open?.question ?? null, decision, answer, Date.now());
        if (problem !== null) throw usageFailure(problem);
      },
      description,
    });
  take('approve', approveUpdate, 'Approve what is asked, with a proof: use `belay approve`.');
  take('reject', rejectUpdate, 'Reject what is asked, with a reason: use `belay reject`.');
  setHandler(approvalQuery, () => questionOf(questions), { description: 'What people are asked to approve, or null.' });
  return questions;
}

function questionOf({ open }: Questions): ApprovalQuestion | null {
  if (open === null) return null;
  const { parts, question } = open;
  const { plan, hash, asked, endsMs } = question;
  return { plan, hash, parts, asked, until: new Date(endsMs).toISOString() };
}

async function decide(
  questions: Questions,
  decision: Decided,
  { by, why, proof }: ApprovalAnswer,
): Promise<CountedAnswer> {
  const { open } = questions;
  if (open === null) throw usageFailure('nothing is asked now');
  const { question, show } = open;
  const { plan } = question;
  const checked = await checkApproval({ plan, decision, by, why, proof, atMs: Date.now() }).catch((error: unknown) => {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (cause instanceof ApplicationFailure && cause.type === 'Usage') question.badAnswers += 1;
    throw usageFailure(cause instanceof Error ? cause.message : 'no worker could verify it');
  });
  // Someone else may have decided during the verification.
  const stillOpen = questions.open === open ? question : null;
  const overtaken = problemOfAnswer(stillOpen, decision, { plan: question.hash, by, why, proof }, Date.now());
  if (overtaken !== null) throw usageFailure(overtaken);
  const { proven } = checked;
  const at = new Date().toISOString();
  if (decision === 'reject') question.rejected = { by, why: why ?? '', proven };
  else {
    const problem = countYes(question, { by, why, at, proof }, checked);
    if (problem !== null) throw usageFailure(problem);
  }
  show();
  return { plan, at };
}

const SUMMARIES: Record<ApprovalNotice['about'], string> = {
  asked: 'Notify that an approval is needed',
  half_time: 'Notify again that an approval is needed',
  approved: 'Notify that it was approved',
};

/** A notification names at most this many targets. `belay approve` shows all of them. */
const MAX_SHOWN = 20;

/** A failed delivery changes nothing, because `belay approvals` lists what waits. */
async function notifyOfApproval(
  notify: NotifySettings | undefined,
  about: ApprovalNotice['about'],
  question: OpenQuestion,
  parts: readonly PlannedPart[],
): Promise<void> {
  if (notify === undefined) return;
  const { plan, hash, count } = question;
  const { workflowId, runId, firstExecutionRunId } = workflowInfo();
  const named = plan.rules.flatMap(({ tell }) => tell ?? notify.channels);
  await announce({
    notify: { ...notify, channels: notify.channels.filter((it) => named.includes(it)) },
    outcome: null,
    notification: {
      kind: 'approval',
      id: approvalNoticeId(workflowId, firstExecutionRunId, count, about),
      about,
      workflowId,
      runId,
      sentence: sentenceOf(about, waitingOf(question)),
      text: [...factsOfPlan(plan, hash), ...fewPartLines(parts, MAX_SHOWN)].join('\n'),
      links: { ui: null },
    },
    heartbeat: undefined,
    summary: SUMMARIES[about],
  }).catch(() => undefined);
}

function sentenceOf(about: ApprovalNotice['about'], waiting: ShownQuestion): string {
  if (about !== 'approved') return `${waiting.workflowId} ${approvalSentence(waiting)}`;
  const by = [...new Set(waiting.asked.flatMap((it) => it.by))].join(', ');
  return `${waiting.workflowId} was approved by ${by} and continues`;
}

/** @param facts those that differ between runs and rollouts */
export function planOf(
  facts: Omit<
    ApprovalPlan,
    'version' | 'namespace' | 'workflowId' | 'executionId' | 'askedAt' | 'override' | 'noCheck'
  >,
  { override, noCheck }: { override?: FreezeOverride; noCheck?: CheckWaiver },
): ApprovalPlan {
  const { namespace, workflowId, firstExecutionRunId } = workflowInfo();
  return {
    version: 1,
    namespace,
    workflowId,
    executionId: firstExecutionRunId,
    ...facts,
    override: override === undefined ? null : { freezes: override.freezes, reason: override.reason },
    noCheck: noCheck === undefined ? null : { reason: noCheck.reason },
    askedAt: new Date().toISOString(),
  };
}

/** @param answer what the worker said when the workflow began. @returns why the workflow begins nothing, or null */
export const refusalOfAnswer = (answer: RulesAnswer | undefined): Conclusion | null =>
  answer !== undefined && 'error' in answer ? conclude('not_started', answer.error.type, answer.error.message) : null;

export function concludeUnapproved(
  end: Exclude<ApprovalEnd, { kind: 'approved' }>,
  lateText: () => string | null = () => null,
): Conclusion {
  switch (end.kind) {
    case 'rejected':
      return conclude('not_started', 'ApprovalRejected', rejectedText(end));
    case 'expired':
      return conclude('not_started', 'ApprovalExpired', expiredText(end.question.asked));
    case 'late':
      return conclude('not_started', 'TooLate', `it was not approved: ${lateText() ?? 'its time is over'}`);
    case 'over':
      return conclude('not_started', 'Cancelled', 'cancelled before it was approved');
  }
}

/* A run asks people once, after its wait for freezes and before its backup. It holds no lock meanwhile. */

export function approvalHold(run: RunState): Hold {
  const { cancellation, facts, input, result } = run;
  const questions = listenForAnswers();
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
    const end = await ask(questions, result, {
      plan: planOfRun(run, part, rulesOfRun),
      parts: [part],
      isOver: () => cancellation.requested || wasReset(),
      deadlineMs: deadline === null ? Infinity : Date.parse(deadline.at) + 1,
      onChange: (waiting) => run.setWaiting(waiting),
      notify: facts.notify,
    });
    if (end.kind === 'over' && !cancellation.requested) return null;
    if (end.kind !== 'approved') return concludeUnapproved(end, () => whyTooLate(deadline, Date.now()));
    approved.push({ ...end.approved, part: { ...part, path: [] } });
    return null;
  }

  return {
    refuse: () => refusalOfAnswer(answer),
    awaitsPeople: () => rules !== null && !isAsked,
    async begin() {
      if (rules === null || isAsked || wasReset()) return null;
      isAsked = true;
      const unapproved = await run.during('approval', () => askPeople(rules));
      const expired = noLongerGoodText(approved, Date.now());
      if (unapproved === null && expired !== null)
        return conclude('not_started', 'ApprovalExpired', `nothing was started: ${expired}`);
      // The answer may take days, and a freeze may have begun.
      return unapproved ?? 'waited';
    },
    untilMs: () => goodUntilMs(approved),
    refusePart(part) {
      const expired = part.kind === 'backup' ? null : noLongerGoodText(approved, Date.now());
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
