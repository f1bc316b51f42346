/** What is known of a run that someone terminated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TerminatedFailure, WorkflowFailedError } from '@temporalio/client';
import { failedResult } from '../../src/client/runs/run-result.ts';
import { emptyResult } from '../../src/contract/results.ts';

test('the reason of a termination is one line of at most 200 characters', () => {
  const reason = `by\nhand ${'x'.repeat(500)}`;
  const failure = new WorkflowFailedError('failed', new TerminatedFailure(reason), 'NON_RETRYABLE_FAILURE');
  const { outcome, error } = failedResult(failure, emptyResult());
  assert.deepEqual([outcome, error?.type], ['unknown', 'Terminated']);
  assert.equal(error?.message, `the run was terminated: by hand ${'x'.repeat(191)}…`);
});
