/** Returns the current status of a run: its own answer within three seconds, or what Temporal's records show. */
import { QueryNotRegisteredError, type WorkflowExecutionDescription, type WorkflowHandle } from '@temporalio/client';
import { operationIdOf } from '../../contract/ids.ts';
import { QUERIES, RUN_TYPES } from '../../contract/names.ts';
import type { Execution, OperationProgress } from '../../contract/operation.ts';
import type { RunProgress, RunResult } from '../../contract/run.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Waiting } from '../../contract/waiting.ts';
import type { WorkerVersion } from '../../contract/worker-identity.ts';
import { describeOnly } from '../read-workflow.ts';
import type { Session } from '../session.ts';
import { withLink } from '../ui-link.ts';
import { openOperation, recordedWait, withPooledProgress } from './recorded-wait.ts';
import { contactFields, reasonOfSilence, type Contact } from './run-contact.ts';
import { historyFacts, recordedOperation, type RecordedOperation } from './run-history.ts';
import { closedResult, knownOf, withInput, withPart } from './run-result.ts';

export interface RunStatus {
  /** While the run is in flight, `outcome` is null and `phase` shows its progress. */
  result: RunResult;
  /** What the run waits for now. Null if it waits for nothing, has ended, or if nothing is known. */
  waiting: Waiting | null;
  /** Whether the run has ended, and if not, whether anyone answers for it. */
  contact: Contact;
  /** The version whose workers are missing. Present only if `contact` is `unserved`. */
  version?: WorkerVersion;
}

export async function statusOf(session: Session, described: WorkflowExecutionDescription): Promise<RunStatus> {
  if (described.status.name !== 'RUNNING') {
    const result = await closedResult(handleOf(session, described), knownOf(described));
    return {
      result: withLink(session, await completedByHistory(session, described, result)),
      waiting: null,
      contact: 'closed',
    };
  }
  const progress = await askProgress<RunProgress>(session, described);
  if (progress === null) return recordedStatus(session, described);
  const { operation } = progress;
  const inFlight = operation === null ? null : await askProgress<OperationProgress>(session, operation);
  const result = inFlight === null ? progress.result : withOperation(progress.result, inFlight);
  const waiting =
    operation === null || inFlight === null
      ? progress.waiting
      : ((await withPooledProgress(session, operation, inFlight.waiting)) ?? progress.waiting);
  return { result: withLink(session, result), waiting, contact: 'answers' };
}

/** Used for a run that does not answer. */
async function recordedStatus(session: Session, described: WorkflowExecutionDescription): Promise<RunStatus> {
  const contact = await reasonOfSilence(session, described);
  const known = knownOf(described);
  const open = openOperation(described);
  const begun = contact !== 'not_begun';
  const [result, waiting] = await Promise.all([
    begun ? enriched(session, described, known, contact) : known,
    begun && open !== null ? recordedWait(session, open).catch(() => null) : null,
  ]);
  return { result: withLink(session, result), waiting, ...(await contactFields(session, described, contact)) };
}

/** @throws BelayError `NotFound` if the id is not a run's: a lock, for example, belongs to several runs */
export const describeRun = (handle: WorkflowHandle): Promise<WorkflowExecutionDescription> =>
  describeOnly(handle, RUN_TYPES, { what: 'run', remedy: 'use the id of a run from `belay list`' });

export const handleOf = (session: Session, { workflowId, runId }: WorkflowExecutionDescription): WorkflowHandle =>
  session.client.workflow.getHandle(workflowId, runId);

/** Completes the result of a terminated run, which left none itself. Any other result stays as it is. */
export async function completedByHistory(
  session: Session,
  described: WorkflowExecutionDescription,
  result: RunResult,
): Promise<RunResult> {
  return result.error?.type === 'Terminated' ? enriched(session, described, result) : result;
}

/** For a run that does not answer itself, adds what its history and its operation in flight show. */
async function enriched(
  session: Session,
  described: WorkflowExecutionDescription,
  known: RunResult,
  contact: Contact = 'closed',
): Promise<RunResult> {
  const facts = await historyFacts(session.client, handleOf(session, described)).catch(() => null);
  if (facts === null) return known;
  const shown = facts.parts.reduce<RunResult>(withPart, withInput(known, facts));
  const wasReset = facts.firstRunId !== described.runId;
  const isWhole = contact === 'closed' && !wasReset && described.type !== 'watchDeployment';
  const result = isWhole ? withUnasked(shown, facts.asked) : shown;
  if (facts.open === null) return result;
  // Without a worker, the operation does not answer either, and waiting for it would leave no time to read its history.
  const inFlight = contact === 'silent' ? null : await askProgress<OperationProgress>(session, facts.open);
  if (inFlight !== null) return withPart(result, inFlight.result);
  const recorded = await recordedOperation(session.client, facts.open).catch(() => null);
  return recorded === null ? result : withRecorded(result, facts.open.workflowId, recorded);
}

/** A terminated run started no deployment for which it asked for no operation. A backup may be that of another run. */
function withUnasked(result: RunResult, asked: readonly string[]): RunResult {
  const deployments = result.deployments.map((it) => {
    const isBegun = it.outcome !== null || asked.includes(operationIdOf(it));
    return isBegun ? it : { ...it, outcome: 'not_started' as const };
  });
  return { ...result, deployments };
}

/** @param operationId the id of the operation in flight */
function withRecorded(
  result: RunResult,
  operationId: string,
  { backupId, trigger, ...shown }: RecordedOperation,
): RunResult {
  const parts = [...(result.backup === null ? [] : [result.backup]), ...result.deployments];
  const part = parts.find((it) => operationIdOf(it) === operationId);
  if (part === undefined) return result;
  const made = backupId === null ? {} : { backupId, source: 'created' as const };
  return withPart(result, { ...part, ...shown, ...made, trigger: { ...part.trigger, ...trigger } });
}

export async function askProgress<T>(session: Session, execution: Execution): Promise<T | null> {
  const answer = await tryProgress<T>(session, execution);
  return answer === 'not_yet' ? null : answer;
}

/** @returns null if no worker answers, and `not_yet` if a worker answers but the workflow has no progress yet */
export async function tryProgress<T>(
  { client }: Session,
  { workflowId, runId }: Execution,
): Promise<T | 'not_yet' | null> {
  const handle = client.workflow.getHandle(workflowId, runId);
  return client
    .withDeadline(Date.now() + TIMING.client.queryMs, () => handle.query<T>(QUERIES.progress))
    .catch((error: unknown) => (error instanceof QueryNotRegisteredError ? 'not_yet' : null));
}

function withOperation(result: RunResult, { phase, result: part }: OperationProgress): RunResult {
  return { ...withPart(result, part), ...(phase === 'parked' ? { phase } : {}) };
}
