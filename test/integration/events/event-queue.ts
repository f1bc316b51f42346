import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { eventId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { posts, reads } from '../../support/journal.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { fresh, startTestStack, TASK_QUEUE, type TestStack } from '../../support/world.ts';

let world: TestStack;
let receiver: Receiver;
before(async () => {
  world = await startTestStack();
  receiver = await startReceiver(world);
});

test('events are handled on a task queue of their own', async () => {
  const id = fresh('msg');
  assert.equal((await receiver.deliver({ type: 'x', server_id: fresh('s') }, { id })).status, 202);
  const event = world.client.workflow.getHandle(eventId('panel', id));
  await event.result();
  assert.equal((await event.describe()).taskQueue, `${TASK_QUEUE}-events`);
});

test('the workers of that queue make no request to the service', async () => {
  const siteId = fresh('a');
  const input = { siteIds: [siteId], deploy: { intervalMs: 1_000, tries: 2 } };
  const run = await world.client.workflow.start('deployOnly', {
    ...{ workflowId: `deploy:${siteId}:x`, taskQueue: `${TASK_QUEUE}-events`, args: [input] },
  });
  const history = async () => JSON.stringify(await run.fetchHistory());
  await eventually('a read that no worker can make', async () => (await history()).includes('is not registered'));
  assert.deepEqual(reads(world.sandbox, `/v1/sites/${siteId}/deployments/latest`), []);
  assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  await run.terminate();
});
