/** The only error that the library throws. Its type names what happened; the result holds what is known. */
import type { ErrorType } from '../names.ts';
import type { RunResult } from '../run.ts';
import type { RolloutResult } from '../rollout.ts';

export class BelayError extends Error {
  override readonly name = 'BelayError';
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
