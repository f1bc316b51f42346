/** The exit codes, for scripts to act on. */
import type { ErrorType, Outcome } from './names.ts';
import type { RunResult } from './run.ts';
import { BelayError } from './errors.ts';

export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  timedOut: 3,
  unknown: 4,
  busy: 5,
  refused: 6,
  unreachable: 7,
  cancelled: 8,
  internal: 70,
  stoppedWaiting: 124,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

const BY_OUTCOME: Record<Exclude<Outcome, 'not_started'>, number> = {
  completed: EXIT.completed,
  failed: EXIT.failed,
  timed_out: EXIT.timedOut,
  unknown: EXIT.unknown,
  cancelled: EXIT.cancelled,
};

const BY_TYPE: Partial<Record<ErrorType, number>> = {
  Busy: EXIT.busy,
  TooLate: EXIT.busy,
  Frozen: EXIT.busy,
  ApprovalExpired: EXIT.busy,
  ApprovalRejected: EXIT.refused,
  Refused: EXIT.refused,
  Usage: EXIT.usage,
  NotFound: EXIT.usage,
  KeyReused: EXIT.usage,
  TemporalUnreachable: EXIT.unreachable,
  NoWorker: EXIT.unreachable,
  Cancelled: EXIT.cancelled,
  Superseded: EXIT.cancelled,
  StoppedWaiting: EXIT.stoppedWaiting,
};

/** The verdict as an exit code. */
export function exitCodeOfResult({ outcome, error }: Pick<RunResult, 'outcome' | 'error'>): number {
  if (outcome !== null && outcome !== 'not_started') return BY_OUTCOME[outcome];
  return (error === null ? undefined : BY_TYPE[error.type]) ?? EXIT.internal;
}

/** What the command line would exit with, so that a program that fails also fails its CI job. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof BelayError)) return EXIT.internal;
  const { type, message, result, rollout } = error;
  return exitCodeOfResult({ outcome: (result ?? rollout)?.outcome ?? null, error: { type, message } });
}
