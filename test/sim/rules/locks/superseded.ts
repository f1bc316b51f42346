/** What tests of superseding share. */
import assert from 'node:assert/strict';
import type { NewerRun } from '../../../../src/features/superseding/shapes.ts';
import { siteTarget } from '../../../../src/contract/target.ts';
import type { RunResult } from '../../../../src/contract/run.ts';
import type { StackOptions, VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { AT_ONCE_MS } from './held-locks.ts';

export const SUPERSEDE = { supersede: true };

/** No search finds an older run, so the queue of the lock alone has to do it. */
export const BLIND: StackOptions = { searchLagMs: 24 * 3_600_000 };

/** What a newer run that does the same tells the older one. */
export const newerThan = (
  { startedMs }: Run,
  { siteIds, ...of }: { service: string | null; serverId: string; siteIds: string[] },
): NewerRun => ({
  ...{ workflowId: 'backup-then-deploy:newer:k', runId: '0d5a4d0c-7b0e-4c0e-9d53-6a3b1b9f8a11' },
  work: {
    type: 'backupThenDeploy',
    ...{ ...of, targets: siteIds.map(siteTarget) },
    startedAt: new Date(startedMs + 1).toISOString(),
    ...{ supersedes: true, hasBegun: false },
  },
});

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
