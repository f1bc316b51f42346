/** Makes sure that a person decides about the plan that they have seen. */
import { createInterface } from 'node:readline/promises';
import type { ApprovalQuestion, Decided } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { PLAN_DIGITS } from './text.ts';

/** @param plan what was seen; without it, a terminal asks. @throws BelayError `Usage` */
export async function confirm(
  { plan: { workflowId }, hash }: ApprovalQuestion,
  decision: Decided,
  plan: string | undefined,
): Promise<void> {
  if (plan !== undefined) {
    if (hash.startsWith(plan)) return;
    const remedy = 'read what it asks now, and decide again';
    throw new BelayError(
      'Usage',
      `${workflowId} asks about plan ${hash.slice(0, PLAN_DIGITS)}, not ${plan}: ${remedy}`,
    );
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    const shown = hash.slice(0, PLAN_DIGITS);
    throw new BelayError('Usage', `without a terminal, name the plan that you have read: --plan ${shown}`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`Type "yes" to ${decision} it: `);
    if (answer.trim().toLowerCase() === 'yes') return;
  } finally {
    terminal.close();
  }
  throw new BelayError('Usage', `you did not ${decision} it: nothing has changed`);
}
