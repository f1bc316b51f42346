/** The error of the library, and the exit codes that follow from it. */
import type { ErrorType, Outcome } from './names.ts';
import type { RunResult } from './run.ts';
import type { RolloutResult } from '../features/rollouts/shapes.ts';

/**
 * The only error that the library throws: for a run that did not end `completed`, and for a call that failed. `type`
 * says what happened, `message` says what was wrong and what to do, and `result` or `rollout` hold what is known.
 * `exitCodeOf` returns the exit code that the command line would use.
 */
export class BelayError extends Error {
  static {
    // Node prints the name of the class, which a bundler shortens.
    Object.defineProperty(this, 'name', { value: 'BelayError' });
  }
  override readonly name: string = 'BelayError';
  /** What happened, for a `switch`. Each member of the type says what it means. */
  readonly type: ErrorType;
  /** The result of the run. Null if no run was reached. */
  readonly result: RunResult | null;
  /** The result of the rollout. Null if no rollout was reached. */
  readonly rollout: RolloutResult | null;

  constructor(
    type: ErrorType,
    message: string,
    result: RunResult | null = null,
    options: ErrorOptions & { rollout?: RolloutResult } = {},
  ) {
    super(message, options);
    this.type = type;
    this.result = result;
    this.rollout = options.rollout ?? null;
  }
}

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

export function exitCodeOfResult({ outcome, error }: Pick<RunResult, 'outcome' | 'error'>): number {
  // A worker may be newer than this program: what it does not know is no success.
  const known: Partial<Record<string, number>> = BY_OUTCOME;
  if (outcome !== null && outcome !== 'not_started') return known[outcome] ?? EXIT.internal;
  return (error === null ? undefined : BY_TYPE[error.type]) ?? EXIT.internal;
}

/** Returns the exit code that the command line would use, so that a program that fails also fails its CI job. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof BelayError)) return EXIT.internal;
  const { type, message, result, rollout } = error;
  return exitCodeOfResult({ outcome: (result ?? rollout)?.outcome ?? null, error: { type, message } });
}
