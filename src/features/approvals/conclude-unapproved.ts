/** How what is not approved ends. */
import type { RulesAnswer } from './shapes.ts';
import { expiredText, rejectedText } from './text.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import type { ApprovalEnd } from './workflow.ts';

/** @param answer what the worker said when it began. @returns why it ends, or null */
export const refuseUnasked = (answer: RulesAnswer | undefined): Conclusion | null =>
  answer !== undefined && 'error' in answer ? conclude('not_started', answer.error.type, answer.error.message) : null;

export function concludeUnapproved(
  end: Exclude<ApprovalEnd, { kind: 'approved' }>,
  late: () => string | null = () => null,
): Conclusion {
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
