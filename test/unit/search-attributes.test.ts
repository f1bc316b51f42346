/** What a worker makes of Temporal's answers about search attributes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConnectionLike } from '@temporalio/client';
import { GRPC } from '../../src/client/transport/grpc-errors.ts';
import { prepareAttributes } from '../../src/worker/search-attributes.ts';

const PLACE = { namespace: 'default', address: '127.0.0.1:7233' };

const failing = (code: number): ConnectionLike => {
  const error = Object.assign(new Error('no answer'), { code, details: 'no answer', metadata: {} });
  return { operatorService: { listSearchAttributes: () => Promise.reject(error) } } as unknown as ConnectionLike;
};

test('a worker asks again for its search attributes if Temporal does not answer for them now', async () => {
  for (const code of [GRPC.unavailable, GRPC.cancelled, GRPC.resourceExhausted]) {
    const prepared = await prepareAttributes('register', failing(code), PLACE);
    assert.deepEqual(prepared, { problem: 'Temporal does not tell which search attributes exist: no answer' });
  }
  const refused = await prepareAttributes('register', failing(GRPC.notFound), PLACE);
  assert.deepEqual(refused, { ready: { use: false, problem: { message: 'no answer', remedy: null } } });
});
