/** Starts the operations of a run. They outlive their runs, because they are locks. */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import type {
  BackupServerInput,
  DeploySiteInput,
  Execution,
  OperationMemo,
  OperationPhase,
} from '../../contract/operation.ts';
import { targetLabel } from '../../contract/target.ts';
import { plainText } from '../../contract/safe-text.ts';
import { operationStaticDetails } from '../../request/run-details.ts';
import type { RunState } from './run-state.ts';
import { TIMING } from '../../contract/timing.ts';
import { startAttributes } from '../ui.ts';
import { awaitChild } from '../children.ts';
import type { Ended } from '../conclusion.ts';
import { emptyBackup, emptyDeployment } from '../../contract/results.ts';

/** An operation in flight. */
export interface Child<E> {
  execution: Execution;
  ended: () => Promise<E>;
}

/**
 * A backup continues when its run is cancelled: other runs may share it, and the service cannot stop it anyway. The
 * end is then null, because the cancelled run no longer waits for it.
 */
export async function startBackup(
  run: RunState,
  workflowId: string,
  input: BackupServerInput,
): Promise<Child<Ended<BackupResult> | null>> {
  const child = await startChild<(input: BackupServerInput) => Promise<BackupResult>>('backupServer', {
    ...childOptions(workflowId, `Back up ${input.serverId}`, input, 'trigger'),
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    args: [input],
  });
  const execution = { workflowId, runId: child.firstExecutionRunId };
  run.setOperation(execution);
  return {
    execution,
    async ended() {
      let closed: Ended<BackupResult> | null = null;
      void awaitChild(child, emptyBackup(input.serverId)).then((it) => (closed = it));
      await condition(() => closed !== null || run.cancellation.requested);
      return closed;
    },
  };
}

/** A deployment is cancelled with its run, and then reports what is known. */
export async function startDeployment(
  run: RunState,
  workflowId: string,
  input: DeploySiteInput,
): Promise<Child<DeploymentResult>> {
  const scope = new CancellationScope({ cancellable: true });
  const tell = (it: 'starting' | Execution | null) => run.holds.forEach((hold) => hold.deploys?.(it));
  tell('starting');
  const child = await scope
    .run(() =>
      startChild<(input: DeploySiteInput) => Promise<DeploymentResult>>('deploySite', {
        ...childOptions(workflowId, `Deploy ${targetLabel(input.target)}`, input, 'baseline'),
        cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        args: [input],
      }),
    )
    .catch((error: unknown) => {
      tell(null);
      throw error;
    });
  const execution = { workflowId, runId: child.firstExecutionRunId };
  tell(execution);
  run.setOperation(execution);
  return {
    execution,
    async ended() {
      let isClosed = false;
      void condition(() => isClosed || run.cancellation.requested).then(() => (isClosed ? undefined : scope.cancel()));
      const closed = await awaitChild(child, emptyDeployment(input.target));
      isClosed = true;
      run.holds.forEach((hold) => hold.deployed?.(closed));
      return closed;
    },
  };
}

/** @param phase the one it begins with */
function childOptions(
  workflowId: string,
  what: string,
  input: BackupServerInput | DeploySiteInput,
  phase: OperationPhase,
) {
  const memo: OperationMemo = { service: input.service };
  return {
    ...startAttributes(input.searchAttributes, { phase }),
    memo: { ...memo },
    workflowId,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    workflowTaskTimeout: TIMING.worker.workflowTaskMs,
    staticSummary: plainText(what, 45),
    staticDetails: operationStaticDetails(input, workflowInfo()),
  };
}
