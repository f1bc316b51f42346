/** Runs after all suites that do not replay: a replay makes every promise of its process costlier. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { bundleFor } from '../../../src/worker/bundle/workflow-source.ts';
import { encryptionOf } from '../../support/key-files.ts';
import { testBundle } from '../../support/workflow-bundle.ts';
import { startPlace } from './namespaces.ts';

test('a history with encryption replays with the keys and the bundle of encrypting workers, and so do those from before and between', async () => {
  const place = await startPlace();
  const workflowBundle = await bundleFor(await testBundle(), { encodesFailures: true, isVersioned: false });
  for (const namespace of ['encrypted', 'plain', 'changing'] as const) {
    const { dataConverter } = encryptionOf(place.keysFile, namespace !== 'encrypted');
    const client = new Client({ connection: place.clients[namespace].connection, namespace, dataConverter });
    const histories = client.workflow.list().intoHistories();
    let replayed = 0;
    for await (const { error } of Worker.runReplayHistories({ workflowBundle, dataConverter }, histories)) {
      assert.equal(error, undefined);
      replayed += 1;
    }
    assert.ok(replayed >= 2, `${replayed} histories`);
  }
});
