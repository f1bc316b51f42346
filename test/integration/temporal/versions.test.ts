/**
 * Two builds of versioned workers side by side. Temporal lists a stopped worker for over a minute, so all of it begins
 * before the first test, and passes beside the tests of other suites.
 */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Connection } from '@temporalio/client';
import { workerChecks } from '../../../src/features/doctor/worker.ts';
import { contactText } from '../../../src/cli/follow.ts';
import { connect, type Belay, type Run } from '../../../src/starter.ts';
import type { RunningWorker } from '../../../src/worker/supervise.ts';
import { eventually } from '../../support/eventually.ts';
import { once } from '../../support/once.ts';
import { replayLater } from '../../support/replay-later.ts';
import { resultOf } from '../../support/outcome.ts';
import { addWorker, fresh, startTestStack, type TestStack } from '../../support/world.ts';

const deploymentName = 'belay-test';
const DEPLOY = { intervalMs: 1_000, tries: 1_000, settleMs: 300 };

let world: TestStack;
let belay: Belay;
let taskQueue: string;
before(async () => {
  world = await startTestStack({ defaults: { deployment: { durationMs: 100 } } });
  taskQueue = fresh('versioned');
  belay = await connect({ connection: world.client.connection as Connection, namespace: world.namespace, taskQueue });
  leftInFlight().catch(() => undefined);
});

const worker = (buildId: string): Promise<RunningWorker> =>
  addWorker(world, taskQueue, world.sandbox.url, {}, { version: { deploymentName, buildId } });

async function makeCurrent(buildId: string): Promise<void> {
  const { workflowService } = world.client;
  const { namespace } = world;
  // Temporal learns of a version with its first poll.
  await eventually(`build ${buildId} to be known`, () =>
    workflowService
      .setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, ignoreMissingTaskQueues: true })
      .then(
        () => true,
        () => false,
      ),
  );
  await eventually(`build ${buildId} to be current`, async () => {
    const { versioningInfo } = await workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: 1,
    });
    return versioningInfo?.currentDeploymentVersion?.buildId === buildId;
  });
}

async function buildOf(workflowId: string): Promise<string | null | undefined> {
  const { raw } = await world.client.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

/** A deployment that goes on until the test ends it at the service. */
async function holdLock(siteId: string): Promise<Run> {
  world.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
  const run = await belay.start({ siteIds: [siteId], deploy: DEPLOY });
  await eventually('its deployment', async () => (await run.status()).result.deployments[0]?.lastStatus === 'building');
  return run;
}

async function queueBehind(siteId: string): Promise<Run> {
  const run = await belay.start({ siteIds: [siteId], deploy: DEPLOY });
  await eventually('a wait for the lock', async () => (await run.status()).waiting?.kind === 'lock');
  return run;
}

async function finish(siteId: string, runs: readonly Run[]): Promise<void> {
  world.sandbox.script({ site: siteId }, { durationMs: 100, ends: 'completed' });
  world.sandbox.finish({ site: siteId }, 'completed');
  for (const run of runs) assert.equal((await resultOf(run)).outcome, 'completed');
}

const refused = once(async () => {
  const first = await worker('a');
  await assert.rejects(
    belay.start({ siteIds: [fresh('a')], deploy: DEPLOY }),
    /NoWorker|no worker of the current version .*set-current-version --deployment-name belay-test --build-id a/,
  );
  await makeCurrent('a');
  return first;
});

const handedOver = once(async () => {
  await refused();
  const siteId = fresh('a');
  const onA = await holdLock(siteId);
  await worker('b');
  await makeCurrent('b');
  const onB = await queueBehind(siteId);
  assert.deepEqual(await Promise.all([onA, onB].map((run) => buildOf(run.workflowId))), ['a', 'b']);
  await finish(siteId, [onA, onB]);

  const heldByB = await holdLock(siteId);
  await makeCurrent('a');
  const again = await queueBehind(siteId);
  assert.deepEqual(await Promise.all([heldByB, again].map((run) => buildOf(run.workflowId))), ['b', 'a']);
  await finish(siteId, [heldByB, again]);
});

const leftInFlight = once(async () => {
  await handedOver();
  const siteId = fresh('a');
  const run = await holdLock(siteId);
  await makeCurrent('b');
  await (await refused()).stop();
  const status = await eventually('the missing build', async () => {
    const it = await run.status();
    return it.contact === 'unserved' ? it : null;
  });
  return { siteId, run, status };
});

describe('versioned workers', () => {
  test('get no run before their build is current, and a start says how to make it so', async () => {
    await refused();
  });

  test('hand a lock over from one build to the next, and back', handedOver);

  test('leave a run in flight whose build has no worker any more, and its status names the build', async () => {
    const { siteId, run, status } = await leftInFlight();
    assert.deepEqual(status.version, { deploymentName, buildId: 'a' });
    assert.match(String(contactText(status)), /only workers of build belay-test:a .* none of them is running/);
    const reach = () => Promise.resolve({ connection: world.client.connection, namespace: world.namespace });
    const { state, message, remedy } = await workerChecks(reach, taskQueue)[0]!.run();
    assert.equal(state, 'failed', message);
    assert.match(message, /wait for workers of another build, such as belay-test:a/);
    assert.match(String(remedy), /update-options --query 'TemporalWorkerDeploymentVersion="belay-test:a"/);
    await worker('a');
    await finish(siteId, [run]);
  });
});

replayLater('versioned workers', () => world.client, 8);
