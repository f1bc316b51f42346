/** Starting the operations of a run, and what their ends mean to it. Children outlive their parents: they are locks. */
import { ApplicationFailure, ChildWorkflowFailure, TerminatedFailure } from '@temporalio/common';
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import {
  WORKFLOW_TASK_TIMEOUT_MS,
  type BackupResult,
  type BackupServerInput,
  type DeploymentResult,
  type DeploySiteInput,
} from '../../contract/run.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import type { backupServer } from '../operation/backup-server.ts';
import type { deploySite } from '../operation/deploy-site.ts';
import { defect, ended, type End } from '../common/conclusion.ts';
import type { Run } from './run-state.ts';

export interface ChildEnd<R> {
  end: End;
  /** Null where the operation left none: it was terminated. */
  result: R | null;
}

/** A child whose end is waited for. */
export interface Ending<R> {
  workflowId: string;
  result: () => Promise<R>;
}

/** An operation in flight. */
export interface Child<E> {
  end: () => Promise<E>;
}

/**
 * A backup goes on when its run is cancelled: others may share it, and the service can't stop it anyhow. Its end is
 * null when the run, once cancelled, doesn't wait for it any more.
 */
export async function startBackup(
  run: Run,
  workflowId: string,
  input: BackupServerInput,
): Promise<Child<ChildEnd<BackupResult> | null>> {
  const child = await startChild<typeof backupServer>('backupServer', {
    ...childOptions(workflowId, `Back up ${input.serverId}`),
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    args: [input],
  });
  run.showOperation({ workflowId, runId: child.firstExecutionRunId });
  return {
    async end() {
      let end: ChildEnd<BackupResult> | null = null;
      void endOf(child).then((it) => (end = it));
      await condition(() => end !== null || run.cancellation.requested);
      return end;
    },
  };
}

/** A deployment is cancelled with its run: it ends with what is known of it. */
export async function startDeployment(
  run: Run,
  workflowId: string,
  input: DeploySiteInput,
): Promise<Child<ChildEnd<DeploymentResult>>> {
  const scope = new CancellationScope({ cancellable: true });
  const child = await scope.run(() =>
    startChild<typeof deploySite>('deploySite', {
      ...childOptions(workflowId, `Deploy ${input.siteId}`),
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      args: [input],
    }),
  );
  run.showOperation({ workflowId, runId: child.firstExecutionRunId });
  return {
    async end() {
      let closed = false;
      void condition(() => closed || run.cancellation.requested).then(() => (closed ? undefined : scope.cancel()));
      const end = await endOf<DeploymentResult>(child);
      closed = true;
      return end;
    },
  };
}

function childOptions(workflowId: string, what: string) {
  return {
    workflowId,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    staticSummary: plainText(what, 45),
  };
}

/** @returns what it ended with, and its result, as far as it left one */
export async function endOf<R>(child: Ending<R>): Promise<ChildEnd<R>> {
  try {
    return { end: { outcome: 'completed', error: null }, result: await child.result() };
  } catch (error) {
    return failedEnd<R>(child.workflowId, error);
  }
}

function failedEnd<R>(workflowId: string, error: unknown): ChildEnd<R> {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  if (cause instanceof TerminatedFailure) {
    return {
      end: ended('unknown', 'Terminated', `${workflowId} was terminated: nobody watched it to its end`),
      result: null,
    };
  }
  const details = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  const result = (details ?? null) as (R & Pick<BackupResult, 'outcome'>) | null;
  if (result === null || !(cause instanceof ApplicationFailure)) return { end: defect(cause), result: null };
  // Type and message are those the operation ended with.
  const end = { outcome: result.outcome, error: { type: cause.type, message: cause.message } } as End;
  return { end, result };
}
