/** Tells how a run ended. A workflow of its own: neither the verdict nor its lock waits for a chat that is away. */
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import { WORKFLOW_TASK_TIMEOUT_MS, type RunResult } from '../contract.ts';
import type { RunEndInput } from '../event-contract.ts';
import { runEndId } from '../ids.ts';
import { callHeartbeat, notifyAll } from './notifying.ts';
import type { Run } from './open-run.ts';

/** A message of a chat has limits: so many deployments, first those that are not completed. */
const MAX_DEPLOYMENTS_TOLD = 50;

export async function tellRunEnd({ result, leftOut, targets, heartbeat }: RunEndInput): Promise<string[]> {
  const { workflowId } = workflowInfo();
  const [called, { told, unheard }] = await Promise.all([
    heartbeat === null ? true : callHeartbeat(heartbeat),
    notifyAll({ about: 'run', id: workflowId, result, leftOut }, targets),
  ]);
  const missed = [...unheard, ...(called ? [] : [`heartbeat ${heartbeat}`])];
  if (missed.length === 0) return told;
  throw ApplicationFailure.create({
    type: 'NotNotified',
    message: `not told within a day: ${missed.join(', ')}; check the address and whether it is there`,
    nonRetryable: true,
  });
}

/** Starts it where somebody is to be told. */
export async function announceEnd({ notify, result, input }: Run): Promise<void> {
  if (notify === null) return;
  const isSuccess = result.outcome === 'completed';
  const targets = isSuccess && notify.on === 'failed' ? [] : notify.targets;
  const heartbeat = isSuccess ? (input.heartbeat ?? null) : null;
  if (targets.length === 0 && heartbeat === null) return;
  const { workflowId, firstExecutionRunId } = workflowInfo();
  try {
    await startChild<typeof tellRunEnd>('tellRunEnd', {
      workflowId: runEndId(workflowId, firstExecutionRunId),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      staticSummary: `Tell how a run ended: ${result.outcome ?? 'Internal'}`,
      args: [{ ...shortened(result), targets, heartbeat }],
    });
  } catch (error) {
    // A run that was reset told of this end before.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

function shortened(result: RunResult): Pick<RunEndInput, 'result' | 'leftOut'> {
  const isCompleted = ({ outcome }: { outcome: unknown }) => outcome === 'completed';
  const { deployments } = result;
  const ordered = [...deployments.filter((it) => !isCompleted(it)), ...deployments.filter(isCompleted)];
  const told = ordered.slice(0, MAX_DEPLOYMENTS_TOLD);
  return { result: { ...result, deployments: told }, leftOut: deployments.length - told.length };
}
