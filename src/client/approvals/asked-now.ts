import { QueryNotRegisteredError, type WorkflowHandle } from '@temporalio/client';
import type { ApprovalQuestion } from '../../contract/approval.ts';
import { QUERIES } from '../../contract/names.ts';

/** What a run or rollout asks now; null if nothing. Until its code has begun, it knows no queries. */
export async function askedNow(handle: Pick<WorkflowHandle, 'query'>): Promise<ApprovalQuestion | null> {
  try {
    return await handle.query<ApprovalQuestion | null>(QUERIES.approval);
  } catch (error) {
    if (error instanceof QueryNotRegisteredError) return null;
    throw error;
  }
}
