/**
 * Asks people to approve a plan. A question holds nothing while it is open: no lock, no backup, no worker. It is a
 * condition and a timer.
 */
import { condition, workflowInfo } from '@temporalio/workflow';
import type { ApprovalPlan, Approved, PlannedPart } from './shapes.ts';
import type { Held } from '../freezes/shapes.ts';
import { planHash } from './plan-hash.ts';
import type { WaitingForApproval } from '../../contract/waiting.ts';
import { isApproved, openQuestion, type OpenQuestion } from './rules.ts';
import type { Approvals } from './listen.ts';
import { closeHeld, openHeld } from './record-question.ts';

export interface Asking {
  plan: ApprovalPlan;
  /** What the root hash of the plan is made of. */
  parts: PlannedPart[];
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
  { plan, parts, isOver, deadlineMs = Infinity, onChange, notify }: Asking,
): Promise<ApprovalEnd> {
  approvals.count += 1;
  const question = openQuestion(plan, planHash(plan), approvals.count);
  const held = openHeld(result, question);
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
  closeHeld(held, question, end.kind);
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
