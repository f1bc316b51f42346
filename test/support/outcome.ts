import assert from 'node:assert/strict';
import type { RunResult } from '../../src/contract.ts';
import { BelayError, type Run } from '../../src/starter.ts';

/** The run's result, whatever its outcome. */
export async function resultOf(run: Run): Promise<RunResult> {
  return run.result().catch((error: unknown) => {
    assert.ok(error instanceof BelayError, String(error));
    assert.ok(error.result, error.message);
    return error.result;
  });
}
