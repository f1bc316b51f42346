/** What is known of a run now: by its own word within three seconds, else by what Temporal keeps of it. */
import { WorkflowFailedError, type WorkflowExecutionDescription, type WorkflowHandle } from '@temporalio/client';
import {
  QUERIES,
  type BackupResult,
  type DeploymentResult,
  type OperationProgress,
  type RunMemo,
  type RunProgress,
  type RunResult,
  type Waiting,
} from '../contract.ts';
import { withLink } from './link.ts';
import { emptyResult, failedResult, resultOfInput } from './result.ts';
import type { Session } from './session.ts';

const QUERY_TIMEOUT_MS = 3_000;

export interface RunStatus {
  /** In flight `outcome` is null, and `phase` tells where it is. */
  result: RunResult;
  waiting: Waiting | null;
  /** Whether the run answered for itself; a closed one always does. */
  answered: boolean;
}

export async function statusOf(session: Session, handle: WorkflowHandle): Promise<RunStatus> {
  const described = await handle.describe();
  const known = knownOf(described);
  if (described.status.name !== 'RUNNING') {
    const result = await closedResult(session.client.workflow.getHandle(handle.workflowId, described.runId), known);
    return { result: withLink(session, result), waiting: null, answered: true };
  }
  const progress = await ask<RunProgress>(session, handle.workflowId, described.runId);
  if (progress === null) return { result: withLink(session, known), waiting: null, answered: false };
  const { operation } = progress;
  const inFlight =
    operation === null ? null : await ask<OperationProgress>(session, operation.workflowId, operation.runId);
  const result = inFlight === null ? progress.result : withPart(progress.result, inFlight.result);
  return { result: withLink(session, result), waiting: inFlight?.waiting ?? progress.waiting, answered: true };
}

async function closedResult(handle: WorkflowHandle, known: RunResult): Promise<RunResult> {
  try {
    return (await handle.result()) as RunResult;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return failedResult(error, known);
    throw error;
  }
}

async function ask<T>({ client }: Session, workflowId: string, runId: string): Promise<T | null> {
  const handle = client.workflow.getHandle(workflowId, runId);
  return client.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () => handle.query<T>(QUERIES.progress)).catch(() => null);
}

function withPart(result: RunResult, part: BackupResult | DeploymentResult): RunResult {
  if ('serverId' in part) return { ...result, backup: part };
  return {
    ...result,
    deployments: result.deployments.map((deployment) => (deployment.siteId === part.siteId ? part : deployment)),
  };
}

export function knownOf({ workflowId, runId, memo, startTime, closeTime }: WorkflowExecutionDescription): RunResult {
  return emptyResult({
    ...resultOfInput((memo as Partial<RunMemo> | undefined)?.input ?? null),
    workflowId,
    runId,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  });
}
