/** A closed run's result, however it closed. */
import type { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure } from '@temporalio/client';
import type { ErrorType, RunError, RunInput, RunResult } from '../../contract/run.ts';

/** What was asked for, where the run itself can't be asked. */
export function resultOfInput(input: RunInput | null): Pick<RunResult, 'backup' | 'deployments' | 'meta'> {
  const trigger = () => ({ attempts: 0, ambiguous: false, reconciledBy: null });
  const unknown = { outcome: null, lastStatus: null, polls: 0, startedAt: null, endedAt: null };
  return {
    backup:
      input?.serverId === undefined
        ? null
        : { serverId: input.serverId, backupId: null, source: null, trigger: trigger(), ...unknown },
    deployments: (input?.siteIds ?? []).map((siteId) => ({
      siteId,
      evidence: null,
      error: null,
      trigger: trigger(),
      ...unknown,
    })),
    meta: input?.meta ?? null,
  };
}

/** The result in a run's failure; `known` where it left none: it was terminated, or closed by Temporal itself. */
export function failedResult(error: WorkflowFailedError, known: RunResult): RunResult {
  const { cause } = error;
  if (cause instanceof ApplicationFailure) {
    const result = (cause.details?.[0] ?? null) as RunResult | null;
    const said: RunError = { type: (cause.type ?? 'Internal') as ErrorType, message: cause.message };
    return result === null || typeof result !== 'object' ? { ...known, error: said } : { ...result, error: said };
  }
  if (cause instanceof TerminatedFailure) {
    return unknownResult(known, 'Terminated', `the run was terminated: ${cause.message}`);
  }
  if (cause instanceof CancelledFailure) {
    return {
      ...known,
      outcome: 'cancelled',
      error: { type: 'Cancelled', message: 'cancelled, and it said nothing more' },
    };
  }
  return unknownResult(known, 'OutcomeUnknown', `the run closed without a result: ${error.message}`);
}

function unknownResult(known: RunResult, type: ErrorType, message: string): RunResult {
  return { ...known, outcome: 'unknown', error: { type, message } };
}
