/** Returns the current status of a run: its own answer within three seconds, or what Temporal's records show. */
import {
  WorkflowFailedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
  ApplicationFailure,
  CancelledFailure,
  QueryNotRegisteredError,
  TerminatedFailure,
} from '@temporalio/client';
import { ADMISSION_ACTIVITY, QUERIES, RUN_TYPES, type Phase, type ErrorType } from '../../contract/names.ts';
import type {
  BackupResult,
  DeploymentResult,
  RunMemo,
  RunProgress,
  RunResult,
  RunError,
  RunInput,
} from '../../contract/run.ts';
import type { Execution, OperationProgress } from '../../contract/operation.ts';
import { isSameTarget, targetsOf } from '../../contract/target.ts';
import type { Waiting } from '../../contract/waiting.ts';
import { BelayError } from '../../contract/errors.ts';
import { openOperation, recordedWait, withPooledProgress } from './recorded-wait.ts';
import { historyFacts, recordedOperation, type HistoryFacts, type RecordedOperation } from './run-history.ts';
import { operationIdOf } from '../../contract/ids.ts';
import { withLink } from '../ui-link.ts';
import { plainText } from '../../contract/safe-text.ts';
import { emptyResult, emptyBackup, emptyDeployment } from '../../contract/results.ts';
import type { Session } from '../session.ts';
import { unservedVersion } from './unserved-version.ts';
import type { WorkerVersion } from '../../contract/worker-identity.ts';
import { ATTRIBUTE_KEYS } from '../../request/search-attributes.ts';
import { TIMING } from '../../contract/timing.ts';

/** A run counts as stuck after this many attempts of one workflow task. */
const STUCK_ATTEMPTS = 3;

export type Contact =
  | 'closed'
  /** The run answered, or Temporal's records show that it makes progress. */
  | 'answers'
  /** No worker has picked the run up yet. */
  | 'not_begun'
  /** The run has begun, but no worker answers for it now. */
  | 'silent'
  /** A worker is running, but fails at the run's workflow task again and again. */
  | 'stuck'
  /** Only workers of one version may continue the run, and none of them is running. */
  | 'unserved';

export interface RunStatus {
  /** While the run is in flight, `outcome` is null and `phase` shows its progress. */
  result: RunResult;
  waiting: Waiting | null;
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
export async function describeRun(handle: WorkflowHandle): Promise<WorkflowExecutionDescription> {
  const described = await handle.describe();
  if ((RUN_TYPES as readonly string[]).includes(described.type)) return described;
  const remedy = 'use the id of a run from `belay list`';
  throw new BelayError('NotFound', `${handle.workflowId} is not a run but a ${described.type}: ${remedy}`);
}

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
  const result = facts.parts.reduce<RunResult>(withPart, withInput(known, facts));
  if (facts.open === null) return result;
  // Without a worker, the operation does not answer either, and waiting for it would leave no time to read its history.
  const inFlight = contact === 'silent' ? null : await askProgress<OperationProgress>(session, facts.open);
  if (inFlight !== null) return withPart(result, inFlight.result);
  const recorded = await recordedOperation(session.client, facts.open).catch(() => null);
  return recorded === null ? result : withRecorded(result, facts.open.workflowId, recorded);
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

/** A run that another client started may have no memo of its input. */
export function withInput(known: RunResult, { input }: Pick<HistoryFacts, 'input'>): RunResult {
  const isKnown = known.backup !== null || known.deployments.length > 0;
  return isKnown ? known : { ...known, ...resultOfInput(input) };
}

/** Why a run does not answer, without a question to it. */
export async function reasonOfSilence(
  session: Session,
  { raw, historyLength }: WorkflowExecutionDescription,
): Promise<Contact> {
  // The history holds nothing but the start and the first scheduled task.
  if (historyLength <= 2) return 'not_begun';
  const attempts = raw.pendingWorkflowTask?.attempt ?? 0;
  const failing = attempts >= STUCK_ATTEMPTS && (await session.workers()).pollers.length > 0;
  return failing ? 'stuck' : 'silent';
}

/** A run or rollout with fewer events has not reached its first operation. */
const FIRST_EVENTS = 12;

/**
 * True while a worker executes one of its first steps, which take a moment. A run without such a step waits for
 * something, and only the run itself knows what for.
 */
export function isBeginning({ raw, historyLength, type }: WorkflowExecutionDescription): boolean {
  if (historyLength >= FIRST_EVENTS || type === 'watchDeployment') return false;
  const steps = raw.pendingActivities?.filter((it) => it.activityType?.name !== ADMISSION_ACTIVITY) ?? [];
  return steps.length > 0 || raw.pendingWorkflowTask != null;
}

/** Says `unserved` instead, with the version, if the run does not answer because no worker of its version is running. */
export async function contactFields(
  session: Session,
  described: WorkflowExecutionDescription,
  contact: Contact,
): Promise<Pick<RunStatus, 'contact' | 'version'>> {
  if (contact === 'answers' || contact === 'closed') return { contact };
  const version = await unservedVersion(session, described).catch(() => null);
  return version === null ? { contact } : { contact: 'unserved', version };
}

/** However the run was closed, this returns a result. */
export async function closedResult(handle: WorkflowHandle, known: RunResult): Promise<RunResult> {
  try {
    return (await handle.result()) as RunResult;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return failedResult(error, known);
    throw error;
  }
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

export function withPart(result: RunResult, part: BackupResult | DeploymentResult): RunResult {
  if ('serverId' in part) return { ...result, backup: part };
  return {
    ...result,
    deployments: result.deployments.map((it) => (isSameTarget(it.target, part.target) ? part : it)),
  };
}

/** Knows only what Temporal's own record shows. */
export function knownOf(described: Omit<WorkflowExecutionInfo, 'raw'>): RunResult {
  const { workflowId, runId, memo, startTime, closeTime, typedSearchAttributes } = described;
  return emptyResult({
    ...resultOfInput((memo as Partial<RunMemo> | undefined)?.input ?? null),
    workflowId,
    runId,
    phase: (typedSearchAttributes.get(ATTRIBUTE_KEYS.phase) ?? null) as Phase | null,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  });
}

/** Shows what the input asked for, if the run itself does not answer. */
export function resultOfInput(
  input: RunInput | null,
): Pick<RunResult, 'service' | 'backup' | 'deployments' | 'meta' | 'commit'> {
  return {
    service: input?.service ?? null,
    backup: input?.serverId === undefined ? null : emptyBackup(input.serverId),
    deployments: targetsOf(input ?? {}).map(emptyDeployment),
    meta: input?.meta ?? null,
    commit: input?.commit ?? null,
  };
}

/** Returns the result in a run's failure, or `known` if the run was terminated or closed by Temporal and left none. */
export function failedResult(error: WorkflowFailedError, known: RunResult): RunResult {
  const { cause } = error;
  if (cause instanceof ApplicationFailure) {
    const result = (cause.details?.[0] ?? null) as RunResult | null;
    const reported: RunError = { type: (cause.type ?? 'Internal') as ErrorType, message: cause.message };
    return result === null || typeof result !== 'object'
      ? { ...known, error: reported }
      : { ...result, error: reported };
  }
  if (cause instanceof TerminatedFailure) {
    return unknownResult(known, 'Terminated', `the run was terminated: ${plainText(cause.message)}`);
  }
  if (cause instanceof CancelledFailure) {
    return {
      ...known,
      outcome: 'cancelled',
      error: { type: 'Cancelled', message: 'cancelled, without a result' },
    };
  }
  return unknownResult(known, 'OutcomeUnknown', `the run closed without a result: ${error.message}`);
}

function unknownResult(known: RunResult, type: ErrorType, message: string): RunResult {
  return { ...known, outcome: 'unknown', error: { type, message } };
}
