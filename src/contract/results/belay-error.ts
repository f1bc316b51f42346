/** The one error that leaves the starter: its type says what happened, the result what is known. */
import type { ErrorType, RunResult } from '../run.ts';
import type { RolloutResult } from '../rollout.ts';

export class BelayError extends Error {
  override readonly name = 'BelayError';
  readonly type: ErrorType;
  /** Null where no run was reached. */
  readonly result: RunResult | null;
  /** Null where no rollout was reached. */
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
