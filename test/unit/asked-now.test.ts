import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryNotRegisteredError } from '@temporalio/client';
import { askedNow } from '../../src/client/approvals/asked-now.ts';
import { GRPC } from '../../src/client/transport/grpc-errors.ts';

const failing = (error: Error) => ({ query: () => Promise.reject(error) });

test('a rollout whose code has not begun asks nothing', async () => {
  const message = 'Workflow did not register a handler for approval';
  assert.equal(await askedNow(failing(new QueryNotRegisteredError(message, GRPC.invalidArgument))), null);
});

test('another error of the query is passed on', async () => {
  const error = new Error('no worker answers');
  await assert.rejects(askedNow(failing(error)), error);
});
