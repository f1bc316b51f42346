/** The result of a closed run, no matter how it closed. */
import type { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure } from '@temporalio/client';
import { emptyBackup, emptyDeployment } from '../../contract/results.ts';
import type { ErrorType } from '../../contract/names.ts';
import { targetsOf } from '../../contract/target.ts';
import type { RunError, RunInput, RunResult } from '../../contract/run.ts';

/** What the input asked for, if the run itself does not answer. */
export function resultOfInput(input: RunInput | null): Pick<RunResult, 'backup' | 'deployments' | 'meta' | 'commit'> {
  return {
    backup: input?.serverId === undefined ? null : emptyBackup(input.serverId),
    deployments: targetsOf(input ?? {}).map(emptyDeployment),
    meta: input?.meta ?? null,
    commit: input?.commit ?? null,
  };
}

/** The result in a run's failure; or `known`, if the run was terminated or closed by Temporal and left none. */
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
    return unknownResult(known, 'Terminated', `the run was terminated: ${cause.message}`);
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
