/** What tests of superseding share. */
import assert from 'node:assert/strict';
import type { RunResult } from '../../../../src/contract/run.ts';
import type { StackOptions, VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { AT_ONCE_MS } from './held-locks.ts';

export const SUPERSEDE = { supersede: true };

/** No search finds an older run, so the queue of the lock alone has to do it. */
export const BLIND: StackOptions = { searchLagMs: 24 * 3_600_000 };

/** It ended at once, deployed nothing, and names the newer run. */
export async function assertSuperseded({ result }: VirtualStack, older: Run, newer: Run): Promise<RunResult> {
  const ended = await result(older);
  assert.deepEqual([ended.outcome, ended.error?.type], ['not_started', 'Superseded']);
  assert.deepEqual(ended.supersededBy, { workflowId: newer.workflowId, runId: newer.runId });
  assert.ok(ended.deployments.every(({ outcome, trigger }) => outcome === 'not_started' && trigger.attempts === 0));
  const afterMs = older.closedMs! - newer.startedMs;
  assert.ok(afterMs < AT_ONCE_MS, `${afterMs} ms`);
  return ended;
}
