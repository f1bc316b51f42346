/** The exit codes, for scripts to act on. */
import type { ErrorType, Outcome } from '../../contract/names.ts';
import type { RunResult } from '../../contract/run.ts';
import { SIGNAL_EXIT_CODES } from '../../process/signals.ts';

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
  interrupted: SIGNAL_EXIT_CODES.SIGINT,
  terminated: SIGNAL_EXIT_CODES.SIGTERM,
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
export function exitCodeOf({ outcome, error }: Pick<RunResult, 'outcome' | 'error'>): number {
  if (outcome !== null && outcome !== 'not_started') return BY_OUTCOME[outcome];
  return (error === null ? undefined : BY_TYPE[error.type]) ?? EXIT.internal;
}
