/** A worker that decides, but cannot reach the service. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createActivities } from '../../../src/activities/index.ts';
import { createHostingApiClient } from '../../../src/hosting-api/index.ts';
import { HTTP_TIMEOUTS } from '../../../src/worker/probe-service.ts';
import { SERVICE_ONLY } from '../../support/activity-deps.ts';
import { atEnd } from '../../support/at-end.ts';
import { resultOf } from '../../support/outcome.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { belayOn, fresh, OWN_ACTIVITIES, TOKEN, type TestStack } from '../../support/world.ts';
import { testBundle } from '../../support/workflow-bundle.ts';
import { NO_REPORTS } from '../../support/no-reports.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

/** @param only what this worker does: it decides and makes its own reads first, or takes activities */
async function addHalf(taskQueue: string, baseUrl: string, only: 'decisions' | 'activities'): Promise<void> {
  const { address, namespace, sandbox } = world;
  const service = createHostingApiClient({ ...HTTP_TIMEOUTS, baseUrl, token: () => Promise.resolve(TOKEN) });
  const statuses = { deployment: {}, backup: {} };
  const workerInfo = { service: sandbox.url, formerly: [], epoch: '1', statuses, searchAttributes: false };
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    activities: createActivities({ service, workerInfo, ...SERVICE_ONLY }),
    ...(only === 'decisions' ? { ...NO_REPORTS, workflowBundle: await testBundle(), tuner: OWN_ACTIVITIES } : {}),
  });
  const ended = worker.run().finally(() => connection.close());
  atEnd(async () => {
    worker.shutdown();
    await ended;
  });
}

test('a read that its worker cannot make is made by another worker', async () => {
  const taskQueue = fresh('q');
  // Nothing listens on this port.
  await addHalf(taskQueue, 'http://127.0.0.1:1', 'decisions');
  await addHalf(taskQueue, world.sandbox.url, 'activities');
  const belay = await belayOn(world, taskQueue);
  const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
  const pace = { intervalMs: 200, tries: 60 };
  const run = await belay.start({ serverId: fresh('s'), siteIds: [siteId], backup: pace, deploy: pace });
  const { outcome, error } = await resultOf(run);
  assert.equal(outcome, 'completed', error?.message);
});
