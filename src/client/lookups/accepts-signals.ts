/**
 * Whether a workflow that polls has room for signals, and polls the service that they are about. The receiver cannot
 * reject one, so its sender looks first.
 */
import { WorkflowNotFoundError, type WorkflowExecutionDescription, type WorkflowHandle } from '@temporalio/client';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import type { OperationMemo } from '../../contract/operation.ts';
import type { RunMemo } from '../../contract/run.ts';
import type { RolloutMemo } from '../../features/rollouts/shapes.ts';

export const hasRoomForSignals = ({ historyLength }: Pick<WorkflowExecutionDescription, 'historyLength'>): boolean =>
  historyLength < HISTORY_BUDGET.signalsUntilEvents;

/**
 * @param services of which one must be that of the workflow. Absent: any
 * @param wants whether the workflow has a use for the signal
 */
export async function acceptsSignals(
  handle: Pick<WorkflowHandle, 'describe'>,
  services: readonly string[] | undefined,
  wants: (description: WorkflowExecutionDescription) => boolean = () => true,
): Promise<boolean> {
  try {
    const description = await handle.describe();
    return hasRoomForSignals(description) && isOfService(description, services) && wants(description);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Operations, runs and rollouts name their service in the memo; one that was started from the UI may name none. */
export function isOfService(
  { memo }: Pick<WorkflowExecutionDescription, 'memo'>,
  services: readonly string[] | undefined,
): boolean {
  const { service, input } = (memo ?? {}) as Partial<OperationMemo & RolloutMemo & RunMemo>;
  const recorded = service ?? input?.service;
  return recorded === undefined || services === undefined || services.includes(recorded);
}
