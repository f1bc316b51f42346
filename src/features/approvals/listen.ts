/** Takes the answers of people to the question that is open. Answers are updates, which a worker verifies. */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { defineQuery, defineUpdate, setHandler } from '@temporalio/workflow';
import type { ApprovalAnswer, ApprovalQuestion, CountedAnswer, Decided, PlannedPart } from './shapes.ts';
import { APPROVAL_UPDATES, QUERIES } from '../../contract/names.ts';
import { countYes, problemOfAnswer, type OpenQuestion } from './rules.ts';
import { checkApproval } from '../../workflows/activity-proxies.ts';

const approveUpdate = defineUpdate<CountedAnswer, [ApprovalAnswer]>(APPROVAL_UPDATES.approve);
const rejectUpdate = defineUpdate<CountedAnswer, [ApprovalAnswer]>(APPROVAL_UPDATES.reject);
const approvalQuery = defineQuery<ApprovalQuestion | null>(QUERIES.approval);

/** What is asked now, if anything. A run asks once, a rollout also before waves. */
export interface Approvals {
  open: OpenQuestion | null;
  parts: PlannedPart[];
  /** The number of questions so far. */
  count: number;
  onAnswer: () => void;
}

/** Handles answers from now on. */
export function listenForAnswers(): Approvals {
  const approvals: Approvals = { open: null, parts: [], count: 0, onAnswer: () => undefined };
  const validator = (decision: Decided) => (answer: ApprovalAnswer) => {
    const problem = problemOfAnswer(approvals.open, decision, answer, Date.now());
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

async function decide(
  approvals: Approvals,
  decision: Decided,
  { by, why, proof }: ApprovalAnswer,
): Promise<CountedAnswer> {
  const question = approvals.open;
  if (question === null) throw refusal('nothing is asked now');
  const { plan } = question;
  const checked = await checkApproval({ plan, decision, by, why, proof, atMs: Date.now() }).catch((error: unknown) => {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (cause instanceof ApplicationFailure && cause.type === 'Usage') question.badAnswers += 1;
    throw refusal(cause instanceof Error ? cause.message : 'no worker could verify it');
  });
  // It may have been decided while this was verified.
  const late =
    approvals.open === question
      ? problemOfAnswer(question, decision, { plan: question.hash, by, why, proof }, Date.now())
      : 'nothing is asked now';
  if (late !== null) throw refusal(late);
  const { proven } = checked;
  const at = new Date().toISOString();
  if (decision === 'reject') question.rejected = { by, why: why ?? '', proven };
  else {
    const problem = countYes(question, { by, why, at, proof }, checked);
    if (problem !== null) throw refusal(problem);
  }
  approvals.onAnswer();
  return { plan, at };
}

const refusal = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: 'Usage', message, nonRetryable: true });
