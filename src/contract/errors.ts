/** The error of the library. */
import type { ErrorType } from './names.ts';
import type { RunResult } from './run.ts';
import type { RolloutResult } from '../features/rollouts/shapes.ts';

/**
 * The only error that the library throws: for a run that did not end `completed`, and for a call that did not work. `type`
 * says what happened, `message` what was wrong and what to do, and `result` or `rollout` hold what is known. `exitCodeOf`
 * gives what the command line would exit with.
 */
export class BelayError extends Error {
  override readonly name = 'BelayError';
  /** What happened, for a `switch`. Each member says what it means. */
  readonly type: ErrorType;
  /** Null if no run was reached. */
  readonly result: RunResult | null;
  /** Null if no rollout was reached. */
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
