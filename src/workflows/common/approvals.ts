/**
 * Asks people to approve a plan. A question holds nothing while it is open: no lock, no backup, no worker. It is a
 * condition and a timer, and answers are updates that a worker verifies.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { condition, defineQuery, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import type {
  ApprovalAnswer,
  ApprovalPlan,
  ApprovalQuestion,
  Approved,
  Decided,
  PlannedPart,
} from '../../contract/approval.ts';
import type { Held } from '../../contract/freeze.ts';
import { planHash } from '../../contract/ids/plan-hash.ts';
import { APPROVAL_UPDATES, QUERIES } from '../../contract/names.ts';
import type { WaitingForApproval } from '../../contract/waiting.ts';
import { notProvenText } from '../../contract/wording/approval-text.ts';
import { countYes, isApproved, openQuestion, problemOfAnswer, type OpenQuestion } from '../../rules/approval.ts';
import { checkSomewhere } from './activity-proxies.ts';

const approveUpdate = defineUpdate<void, [ApprovalAnswer]>(APPROVAL_UPDATES.approve);
const rejectUpdate = defineUpdate<void, [ApprovalAnswer]>(APPROVAL_UPDATES.reject);
const approvalQuery = defineQuery<ApprovalQuestion | null>(QUERIES.approval);

/** What is asked now, if anything. A run asks once, a rollout also before waves. */
export interface Approvals {
  open: OpenQuestion | null;
  parts: PlannedPart[];
  badAnswers: number;
  onAnswer: () => void;
}

/** Handles answers from now on. */
export function listenForAnswers(): Approvals {
  const approvals: Approvals = { open: null, parts: [], badAnswers: 0, onAnswer: () => undefined };
  const validator = (decision: Decided) => (answer: ApprovalAnswer) => {
    const { open, badAnswers } = approvals;
    const problem = problemOfAnswer(open, decision, answer, { badAnswers, nowMs: Date.now() });
    if (problem !== null) throw refusal(problem);
  };
  setHandler(approveUpdate, (answer) => decide(approvals, 'approve', answer), {
    validator: validator('approve'),
    description: 'Approve what is asked, with a proof: use `belay approve`.',
  });
  setHandler(rejectUpdate, (answer) => decide(approvals, 'reject', answer), {
    validator: validator('reject'),
    description: 'Reject what is asked, with a reason: use `belay reject`.',
  });
  setHandler(approvalQuery, () => questionOf(approvals), { description: 'What people are asked to approve, or null.' });
  return approvals;
}

function questionOf({ open, parts }: Approvals): ApprovalQuestion | null {
  if (open === null) return null;
  const { plan, hash, asked, endsMs } = open;
  return { plan, hash, parts, asked, until: new Date(endsMs).toISOString() };
}

async function decide(approvals: Approvals, decision: Decided, { by, why, proof }: ApprovalAnswer): Promise<void> {
  const question = approvals.open;
  if (question === null) throw refusal('nothing is asked now');
  const { plan } = question;
  const checked = await checkSomewhere({ plan, decision, by, why, proof, atMs: Date.now() }).catch((error: unknown) => {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (cause instanceof ApplicationFailure && cause.type === 'Usage') approvals.badAnswers += 1;
    throw refusal(cause instanceof Error ? cause.message : 'no worker could verify it');
  });
  // It may have been decided while this was verified.
  const facts = { badAnswers: approvals.badAnswers, nowMs: Date.now() };
  const late =
    approvals.open === question
      ? problemOfAnswer(question, decision, { plan: question.hash, by, why, proof }, facts)
      : 'nothing is asked now';
  if (late !== null) throw refusal(late);
  const { proven } = checked;
  if (decision === 'reject') question.rejected = { by, why: why ?? '', proven };
  else countYes(question, { by, why, at: new Date().toISOString(), proof }, checked);
  approvals.onAnswer();
}

const refusal = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: 'Usage', message, nonRetryable: true });

export interface Asking {
  plan: ApprovalPlan;
  /** Of a rollout. */
  parts?: PlannedPart[];
  /** Whether it has to be approved no more. */
  isOver: () => boolean;
  /** When it gives up in any case, in milliseconds since 1970. Default: when the question expires. */
  deadlineMs?: number;
  /** Called when it is asked, and after each answer. */
  onChange: (waiting: WaitingForApproval) => void;
  /** Notifies people. */
  notify: (about: 'asked' | 'half_time' | 'approved', question: OpenQuestion) => Promise<void>;
}

/** `late`: the deadline passed. `expired`: too few approved in time. */
export type ApprovalEnd =
  | { kind: 'approved'; approved: Approved }
  | { kind: 'rejected'; by: string; why: string }
  | { kind: 'expired'; question: OpenQuestion }
  | { kind: 'late' }
  | { kind: 'over' };

/** Keeps the wait in the result. */
export async function ask(
  approvals: Approvals,
  result: { held: Held[] },
  { plan, parts = [], isOver, deadlineMs = Infinity, onChange, notify }: Asking,
): Promise<ApprovalEnd> {
  const question = openQuestion(plan, planHash(plan));
  const held = hold(result, question);
  const show = () => onChange(waitingOf(question));
  Object.assign(approvals, { open: question, parts, onAnswer: show });
  show();
  const isDecided = () => question.rejected !== null || isApproved(question) || isOver();
  const untilMs = Math.min(question.endsMs, deadlineMs);
  const halfMs = Math.floor((question.endsMs - Date.parse(plan.askedAt)) / 2);
  await notify('asked', question);
  const untilDecided = (ms: number) => condition(isDecided, Math.max(1, ms), { summary: 'until people decide' });
  const halfTimeMs = Date.parse(plan.askedAt) + halfMs;
  if (halfTimeMs < untilMs && !(await untilDecided(halfTimeMs - Date.now()))) await notify('half_time', question);
  if (!isDecided()) await untilDecided(untilMs - Date.now());
  const end = endOf(question, isOver(), untilMs < question.endsMs);
  approvals.open = null;
  close(held, question, end);
  if (end.kind === 'approved') await notify('approved', question);
  return end;
}

function endOf(question: OpenQuestion, isOver: boolean, hasDeadline: boolean): ApprovalEnd {
  const { plan, yeses, rejected } = question;
  if (rejected !== null) return { kind: 'rejected', by: rejected.by, why: rejected.why };
  if (isOver) return { kind: 'over' };
  if (isApproved(question)) return { kind: 'approved', approved: { plan, yeses } };
  return hasDeadline ? { kind: 'late' } : { kind: 'expired', question };
}

function waitingOf({ hash, asked, plan, endsMs }: OpenQuestion): WaitingForApproval {
  const { workflowId } = workflowInfo();
  return {
    kind: 'approval',
    workflowId,
    plan: hash,
    asked: asked.map((it) => ({ ...it, by: [...it.by] })),
    since: plan.askedAt,
    until: new Date(endsMs).toISOString(),
  };
}

function hold(result: { held: Held[] }, { plan }: OpenQuestion): Held[] {
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

function close(held: readonly Held[], { asked, yeses, proven, rejected }: OpenQuestion, { kind }: ApprovalEnd): void {
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
    if (reasons.length > 0) it.why = reasons.join('; ');
  }
}
