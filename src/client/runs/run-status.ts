/** What is known of a run now: by its own word within three seconds, else by what Temporal keeps of it. */
import {
  WorkflowFailedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
} from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import {
  QUERIES,
  RUN_TYPES,
  type BackupResult,
  type DeploymentResult,
  type OperationProgress,
  type Phase,
  type RunMemo,
  type RunProgress,
  type RunResult,
  type Waiting,
} from '../../contract/run.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { historyFacts } from './run-history.ts';
import { withLink } from '../connection/ui-link.ts';
import { emptyResult } from '../../contract/results/empty-results.ts';
import { failedResult, resultOfInput } from './closed-run.ts';
import type { Session } from '../session.ts';
import { workerSeen } from '../connection/pollers.ts';

const QUERY_TIMEOUT_MS = 3_000;
const PHASE = defineSearchAttributeKey('BelayPhase', 'KEYWORD');

/** Attempts of one workflow task after which it is not bad luck any more. */
const STUCK_ATTEMPTS = 3;

export type Contact =
  | 'closed'
  /** The run answered for itself. */
  | 'answers'
  /** No worker has taken it up yet. */
  | 'not_begun'
  /** Begun, but no worker answers for it now. */
  | 'silent'
  /** A worker is there, and fails at it again and again. */
  | 'stuck';

export interface RunStatus {
  /** In flight `outcome` is null, and `phase` tells where it is. */
  result: RunResult;
  waiting: Waiting | null;
  contact: Contact;
}

export async function statusOf(session: Session, handle: WorkflowHandle): Promise<RunStatus> {
  const described = await describeRun(handle);
  if (described.status.name !== 'RUNNING') {
    const result = await closedResult(handleOf(session, described), knownOf(described));
    return { result: withLink(session, await whole(session, described, result)), waiting: null, contact: 'closed' };
  }
  const progress = await askProgress<RunProgress>(session, handle.workflowId, described.runId);
  if (progress === null) {
    const contact = await silence(session, described);
    const known = knownOf(described);
    const result = contact === 'not_begun' ? known : await enriched(session, described, known);
    return { result: withLink(session, result), waiting: null, contact };
  }
  const { operation } = progress;
  const inFlight =
    operation === null ? null : await askProgress<OperationProgress>(session, operation.workflowId, operation.runId);
  const result = inFlight === null ? progress.result : withPart(progress.result, inFlight.result);
  return { result: withLink(session, result), waiting: inFlight?.waiting ?? progress.waiting, contact: 'answers' };
}

/** @throws BelayError `NotFound` where the id is that of something else: a lock, for one, belongs to several runs */
export async function describeRun(handle: WorkflowHandle): Promise<WorkflowExecutionDescription> {
  const described = await handle.describe();
  if ((RUN_TYPES as readonly string[]).includes(described.type)) return described;
  const remedy = 'give the id of the run, as `belay list` shows it';
  throw new BelayError('NotFound', `${handle.workflowId} is no run but a ${described.type}: ${remedy}`);
}

const handleOf = (session: Session, { workflowId, runId }: WorkflowExecutionDescription): WorkflowHandle =>
  session.client.workflow.getHandle(workflowId, runId);

/** The result of a closed run; a terminated one left none itself. */
export async function whole(
  session: Session,
  described: WorkflowExecutionDescription,
  result: RunResult,
): Promise<RunResult> {
  return result.error?.type === 'Terminated' ? enriched(session, described, result) : result;
}

/** A result with what the run's history and the operation in flight tell, for one that says nothing itself. */
async function enriched(
  session: Session,
  described: WorkflowExecutionDescription,
  known: RunResult,
): Promise<RunResult> {
  const facts = await historyFacts(handleOf(session, described)).catch(() => null);
  if (facts === null) return known;
  const asked = known.backup === null && known.deployments.length === 0 ? resultOfInput(facts.input) : {};
  const inFlight =
    facts.open === null ? null : await askProgress<OperationProgress>(session, facts.open.workflowId, facts.open.runId);
  const parts = inFlight === null ? facts.parts : [...facts.parts, inFlight.result];
  return parts.reduce<RunResult>(withPart, { ...known, ...asked });
}

/** Why a run in flight doesn't answer. */
export async function silence(
  session: Session,
  { raw, historyLength }: WorkflowExecutionDescription,
): Promise<Contact> {
  // Started, its first task scheduled, and nothing since.
  if (historyLength <= 2) return 'not_begun';
  const attempts = raw.pendingWorkflowTask?.attempt ?? 0;
  const failing =
    attempts >= STUCK_ATTEMPTS && (await workerSeen(session.client, session.namespace, session.taskQueue));
  return failing ? 'stuck' : 'silent';
}

/** The result of a closed run, however it closed. */
export async function closedResult(handle: WorkflowHandle, known: RunResult): Promise<RunResult> {
  try {
    return (await handle.result()) as RunResult;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return failedResult(error, known);
    throw error;
  }
}

export async function askProgress<T>({ client }: Session, workflowId: string, runId: string): Promise<T | null> {
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

/** What Temporal itself keeps of a run. */
export function knownOf(described: Omit<WorkflowExecutionInfo, 'raw'>): RunResult {
  const { workflowId, runId, memo, startTime, closeTime, typedSearchAttributes } = described;
  return emptyResult({
    ...resultOfInput((memo as Partial<RunMemo> | undefined)?.input ?? null),
    workflowId,
    runId,
    phase: (typedSearchAttributes.get(PHASE) ?? null) as Phase | null,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  });
}
