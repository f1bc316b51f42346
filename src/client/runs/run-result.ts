/** Forms the result of a run from what is known of it: its own result, its failure, or only Temporal's record. */
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  type WorkflowFailedError,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
} from '@temporalio/client';
import type { ErrorType, Phase } from '../../contract/names.ts';
import { reportedDeployment } from '../../contract/operation.ts';
import { emptyBackup, emptyDeployment, emptyResult } from '../../contract/results.ts';
import type { BackupResult, DeploymentResult, RunError, RunInput, RunMemo, RunResult } from '../../contract/run.ts';
import { plainText } from '../../contract/safe-text.ts';
import { isSameTarget, targetsOf } from '../../contract/target.ts';
import { ATTRIBUTE_KEYS } from '../../request/search-attributes.ts';
import { resultIn, resultOr } from '../read-workflow.ts';

/** What Temporal's own record shows: the ids, the times, and what the input asked for. */
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

/** What the input asked for, if the run itself does not answer. */
function resultOfInput(
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

/** A run that another client started may have no memo of its input. */
export function withInput(known: RunResult, { input }: { input: RunInput | null }): RunResult {
  const isKnown = known.backup !== null || known.deployments.length > 0;
  return isKnown ? known : { ...known, ...resultOfInput(input) };
}

export function withPart(result: RunResult, part: BackupResult | DeploymentResult): RunResult {
  if ('serverId' in part) return { ...result, backup: part };
  return {
    ...result,
    deployments: result.deployments.map((it) => (isSameTarget(it.target, part.target) ? reportedDeployment(part) : it)),
  };
}

/** However the run was closed, this returns a result. */
export const closedResult = (handle: WorkflowHandle, known: RunResult): Promise<RunResult> =>
  resultOr(handle, (failure) => failedResult(failure, known));

/** Returns the result in a run's failure, or `known` if the run was terminated or closed by Temporal and left none. */
export function failedResult(error: WorkflowFailedError, known: RunResult): RunResult {
  const { cause } = error;
  if (cause instanceof ApplicationFailure) {
    const reported: RunError = { type: (cause.type ?? 'Internal') as ErrorType, message: cause.message };
    return { ...(resultIn<RunResult>(error) ?? known), error: reported };
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
