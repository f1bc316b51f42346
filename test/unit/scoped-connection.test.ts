import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Connection } from '@temporalio/client';
import { scopedConnection } from '../../src/client/transport/open-connection.ts';

/** They never connect. */
const lazy = () => Connection.lazy({ address: '127.0.0.1:1' });

test('what began on a connection ends on it, and later calls use the next one', async () => {
  const [before, after] = [lazy(), lazy()];
  let inUse = before;
  const scoped = scopedConnection(() => inUse, { close: () => Promise.resolve() });
  await scoped.withDeadline(1_000, async () => {
    inUse = after;
    await Promise.resolve();
    assert.equal(scoped.workflowService, before.workflowService);
    assert.equal(before.callContextStorage.getStore()?.deadline, 1_000);
    await scoped.withMetadata({ team: 'web' }, async () => {
      assert.deepEqual(before.callContextStorage.getStore(), { deadline: 1_000, metadata: { team: 'web' } });
      assert.equal(after.callContextStorage.getStore(), undefined);
    });
  });
  assert.equal(scoped.workflowService, after.workflowService);
  await Promise.all([before.close(), after.close()]);
});

test('a connection that was closed burdens no later promise with its scope', async () => {
  const [before, after] = [lazy(), lazy()];
  let inUse = before;
  const scoped = scopedConnection(() => inUse, { close: () => Promise.resolve() });
  await scoped.withDeadline(Date.now() + 60_000, async () => {
    inUse = after;
    assert.equal(scoped.workflowService, before.workflowService);
    await scoped.close();
    assert.equal(scoped.workflowService, after.workflowService);
  });
  await Promise.all([before.close(), after.close()]);
});
