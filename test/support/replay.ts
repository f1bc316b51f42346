/** Determinism: every history a test file made is replayed by today's workflows. */
import assert from 'node:assert/strict';
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { WORKFLOW_BUNDLE } from '../../src/worker/start.ts';

/** @returns how many histories were replayed */
export async function replayAll(client: Client): Promise<number> {
  const histories = client.workflow.list().intoHistories();
  let replayed = 0;
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: WORKFLOW_BUNDLE }, histories)) {
    assert.equal(error, undefined, `${workflowId}: ${error?.message}`);
    replayed += 1;
  }
  return replayed;
}
