import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChildWorkflowFailure, RetryState, TerminatedFailure, TimeoutFailure, TimeoutType } from '@temporalio/common';
import type { DeploymentResult } from '../../src/contract/run.ts';
import { emptyDeployment } from '../../src/contract/results.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { awaitChild } from '../../src/workflows/children.ts';

const WORKFLOW_ID = 'deploy-site:a1';
const UNKNOWN = emptyDeployment(siteTarget('a1'));

async function conclusionAfter(cause: Error) {
  const execution = { workflowId: WORKFLOW_ID };
  const failure = new ChildWorkflowFailure('default', execution, 'deploySite', RetryState.TIMEOUT, cause);
  const child = { workflowId: WORKFLOW_ID, result: () => Promise.reject<DeploymentResult>(failure) };
  const { outcome, error, ...rest } = await awaitChild(child, UNKNOWN);
  assert.deepEqual({ ...rest, outcome: null, error: null }, UNKNOWN);
  return { outcome, error };
}

test('an operation that Temporal ended by a timeout is unknown, and no defect', async () => {
  const { outcome, error } = await conclusionAfter(
    new TimeoutFailure('timed out', undefined, TimeoutType.START_TO_CLOSE),
  );
  assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
  assert.match(error?.message ?? '', /deploy-site:a1 .*timeout/);
});

test('an operation that was terminated is unknown', async () => {
  const { outcome, error } = await conclusionAfter(new TerminatedFailure('terminated'));
  assert.deepEqual([outcome, error?.type], ['unknown', 'Terminated']);
});
