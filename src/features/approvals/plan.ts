/** What every plan says about the workflow that asks. */
import { workflowInfo } from '@temporalio/workflow';
import type { ApprovalPlan } from './shapes.ts';
import type { FreezeOverride } from '../freezes/shapes.ts';
import type { CheckWaiver } from '../site-checks/shapes.ts';

/** @param of what differs between runs and rollouts */
export function planOf(
  of: Omit<ApprovalPlan, 'version' | 'namespace' | 'workflowId' | 'executionId' | 'askedAt' | 'override' | 'noCheck'>,
  { override, noCheck }: { override?: FreezeOverride; noCheck?: CheckWaiver },
): ApprovalPlan {
  const { namespace, workflowId, firstExecutionRunId } = workflowInfo();
  return {
    version: 1,
    ...{ namespace, workflowId, executionId: firstExecutionRunId },
    ...of,
    override: override === undefined ? null : { freezes: override.freezes, reason: override.reason },
    noCheck: noCheck === undefined ? null : { reason: noCheck.reason },
    askedAt: new Date().toISOString(),
  };
}
