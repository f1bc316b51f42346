/** Reads from a history what people answered: an update keeps what was sent, and the plan that it counted for. */
import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { ApprovalAnswer, CountedAnswer } from '../approvals/shapes.ts';
import { planHash } from '../approvals/plan-hash.ts';
import { APPROVAL_UPDATES } from '../../contract/names.ts';
import type { Answered } from './answer-entries.ts';
import { decoded } from '../../client/decode-payloads.ts';
import type { Events } from '../../client/runs/run-history.ts';

interface Sent {
  name: string;
  payloads: Payload[] | null | undefined;
}

/** @returns the questions with an answer that counted, in order */
export async function answeredIn(client: Client, events: Events): Promise<Answered[]> {
  const sent = new Map<string, Sent>();
  const answered = new Map<string, Answered>();
  for (const event of events) {
    const { name, args } = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input ?? {};
    if (name === APPROVAL_UPDATES.approve || name === APPROVAL_UPDATES.reject)
      sent.set(String(event.eventId), { name, payloads: args?.payloads });
    const ended = event.workflowExecutionUpdateCompletedEventAttributes;
    const update = sent.get(String(ended?.acceptedEventId));
    if (update === undefined) continue;
    const counted = await decoded<CountedAnswer>(client, ended?.outcome?.success?.payloads);
    const answer = await decoded<ApprovalAnswer>(client, update.payloads);
    if (counted !== null && answer !== null) record(answered, update.name, answer, counted);
  }
  return [...answered.values()];
}

function record(
  answered: Map<string, Answered>,
  name: string,
  { by, why, proof }: ApprovalAnswer,
  { plan, at }: CountedAnswer,
): void {
  const hash = planHash(plan);
  const question = answered.get(hash) ?? { plan, yeses: [], rejection: null };
  answered.set(hash, question);
  const answer = { by, why, at, proof };
  if (name === APPROVAL_UPDATES.reject) question.rejection = answer;
  else question.yeses.push(answer);
}
