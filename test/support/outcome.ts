import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { RunResult } from '../../src/contract/run.ts';
import { BelayError, type Run } from '../../src/starter.ts';

/** Every result and error returned here, to search them for the token. */
export const SAID: string[] = [];

/** The run's result, whatever its outcome. */
export async function resultOf(run: Run): Promise<RunResult> {
  const result = await run.result().catch((error: unknown) => {
    SAID.push(inspect(error, { depth: 20, showHidden: true }));
    assert.ok(error instanceof BelayError, String(error));
    assert.ok(error.result, error.message);
    return error.result;
  });
  SAID.push(JSON.stringify(result));
  return result;
}
