/** Runs against real servers. Their rules are in test/sim/rules/runs/runs.test.ts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Connection } from '@temporalio/client';
import { connect } from '../../../src/starter.ts';
import { posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayLater } from '../../support/replay-later.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, fresh, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 20 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

test('a run can start as soon as its worker reports that it polls', async () => {
  const taskQueue = fresh('queue');
  const worker = await addWorker(world, taskQueue, world.sandbox.url);
  const belay = await connect({
    connection: world.client.connection as Connection,
    namespace: world.namespace,
    taskQueue,
  });
  await (await belay.start({ siteIds: [fresh('a')], deploy: PACE })).result();
  await worker.stop();
});

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('runs', { concurrency: 8 }, () => {
  // An activity fails, which the simulator reports as an error.
  test('deploysUntil in an unknown time zone ends not started', async () => {
    const siteId = fresh('a');
    const deploysUntil = { time: '06:00', timeZone: 'Europe/Nowhere' };
    const { outcome, error } = await resultOf(
      await world.belay.start({ siteIds: [siteId], deploy: PACE, deploysUntil }),
    );
    assert.deepEqual([outcome, error?.type], ['not_started', 'Usage']);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  });

  test('accepts the maximum number of sites although their names exceed the limit of Temporal’s index', async () => {
    const siteIds = Array.from({ length: 1_000 }, (_, n) => `${fresh('a')}-${'x'.repeat(30)}-${n}`);
    world.sandbox.script({ site: siteIds[0] ?? '' }, { durationMs: 0, ends: 'failed' });
    const result = await resultOf(await world.belay.start({ siteIds, deploy: PACE }));
    assert.equal(result.error?.type, 'DeploymentFailed');
    assert.equal(result.deployments.length, 1_000);
  });
});

// With those of the suites that share its stack.
replayLater('runs', () => world.client, 80);
