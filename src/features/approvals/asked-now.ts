import { QueryNotRegisteredError, type WorkflowHandle } from '@temporalio/client';
import type { ApprovalQuestion } from './shapes.ts';
import { planHash } from './plan-hash.ts';
import { QUERIES } from '../../contract/names.ts';
import { BelayError } from '../../contract/errors.ts';
import { plainText } from '../../contract/safe-text.ts';
import { summaryOf } from './planned-parts.ts';

/** What Temporal knows of the workflow that is asked about. */
export interface AskedExecution {
  namespace: string;
  workflowId: string;
  /** Run id of its first execution; null if this Temporal does not say. */
  executionId: string | null;
}

/**
 * What a run or rollout asks now; null if nothing. Until its code has begun, it knows no queries.
 *
 * @throws BelayError `Refused` if the answer is not what people would sign: whoever can start workflows can answer anything
 */
export async function askedNow(
  handle: Pick<WorkflowHandle, 'query'>,
  execution: AskedExecution,
): Promise<ApprovalQuestion | null> {
  const question = await handle.query<ApprovalQuestion | null>(QUERIES.approval).catch((error: unknown) => {
    if (error instanceof QueryNotRegisteredError) return null;
    throw error;
  });
  const problem = question === null ? null : problemOf(question, execution);
  if (problem === null) return question;
  const { workflowId } = execution;
  const remedy = 'approve nothing, and find out which workers answer for this namespace';
  throw new BelayError('Refused', `the answer of ${plainText(workflowId)} is not to be trusted: ${problem}: ${remedy}`);
}

function problemOf({ plan, hash, parts }: ApprovalQuestion, asked: AskedExecution): string | null {
  for (const field of ['namespace', 'workflowId', 'executionId'] as const) {
    if (asked[field] !== null && plan[field] !== asked[field])
      return `its plan has the ${field} ${plainText(String(plan[field]))}`;
  }
  if (planHash(plan) !== hash) return 'its hash is not that of its plan';
  const found = summaryOf(parts);
  const isSame = (['root', 'servers', 'targets'] as const).every((field) => found[field] === plan.parts[field]);
  return isSame ? null : 'the parts that it shows are not those of its plan';
}
