import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { BackupResult, DeploymentResult, RunResult } from '../../../src/contract/run.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { once } from '../../support/once.ts';
import { relayTo } from '../../support/relay.ts';
import { resultOf } from '../../support/outcome.ts';
import { schedulesPost } from '../../support/post-activities.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';
import { QUERIES } from '../../../src/contract/names.ts';
import type { OperationProgress } from '../../../src/contract/operation.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

/** Starts a worker behind its own relay. */
async function behindRelay() {
  const [queue, way] = [fresh('queue'), await relayTo(world.sandbox.url)];
  await addWorker(world, queue, way.url);
  return { way, belay: await belayOn(world, queue) };
}

async function assertGivenUp(
  lockId: string,
  { error }: RunResult,
  { outcome, trigger }: BackupResult | DeploymentResult,
): Promise<void> {
  assert.deepEqual([outcome, error?.type], ['not_started', 'Refused']);
  assert.deepEqual([trigger.ambiguous, trigger.reconciledBy], [false, null]);
  const { events } = await world.client.workflow.getHandle(lockId).fetchHistory();
  const scheduled = events?.filter(schedulesPost).length ?? 0;
  // The worker of a busy machine may take a request too late to send it. That counts as no attempt, and takes time.
  const isOnTime = scheduled === trigger.attempts;
  assert.ok(
    isOnTime ? scheduled === 5 : scheduled > trigger.attempts && trigger.attempts <= 5,
    `${scheduled} requests`,
  );
}

const attempts = (workflowId: string, count: number) =>
  eventually(`request ${count}`, async () => {
    const handle = world.client.workflow.getHandle(workflowId);
    const progress = await handle.query<OperationProgress>(QUERIES.progress).catch(() => null);
    return (progress?.result.trigger.attempts ?? 0) >= count;
  });

/**
 * Starts a deployment and a backup whose POSTs find no connection. The reads of the deployment reach the service until
 * its POST is due.
 */
async function startBoth(pace: { intervalMs: number; tries: number }) {
  const { belay, way } = await behindRelay();
  // A foreign deployment delays the POST until the relay is closed.
  const siteId = siteAfter(world.sandbox, { ends: 'never' }, FAILED, COMPLETED);
  const path = `/v1/sites/${siteId}/deployments/latest`;
  const deployment = await belay.start({ siteIds: [siteId], deploy: pace });
  await eventually('the wait for the baseline', () => reads(world.sandbox, path).length > 1);
  way.close();
  world.sandbox.act({ site: siteId });
  // Both begin to fail at about the same time, so neither ends before the other has failed twice.
  await attempts(deploySiteId(siteId), 1);
  const serverId = fresh('s');
  const backup = await belay.start({ serverId, siteIds: [], backup: pace });
  return { way, deployment, siteId, backup, serverId };
}

// Workers are expensive, so the tests of each fate share one.
const neverBack = once(() => startBoth({ intervalMs: 300, tries: 60 }));
const backAgain = once(async () => {
  const started = await startBoth({ intervalMs: 2_000, tries: 20 });
  const { way, siteId, serverId } = started;
  await Promise.all([deploySiteId(siteId), backupServerId(serverId)].map((id) => attempts(id, 2)));
  await way.open();
  return started;
});

describe('POSTs without a connection', { concurrency: 4 }, () => {
  test('a deployment POST without a connection ends not started after five attempts', async () => {
    const { deployment, siteId } = await neverBack();
    const result = await resultOf(deployment);
    await assertGivenUp(deploySiteId(siteId), result, result.deployments[0]!);
    assert.match(result.error?.message ?? '', /no connection was made/);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  });

  test('a backup POST without a connection ends not started after five attempts', async () => {
    const { backup, serverId } = await neverBack();
    const result = await resultOf(backup);
    await assertGivenUp(backupServerId(serverId), result, result.backup!);
    assert.equal(posts(world.sandbox, `/v1/servers/${serverId}/backups`).length, 0);
  });

  test('a deployment POST without a connection is sent when the service is back, and is not ambiguous', async () => {
    const { deployment, siteId } = await backAgain();
    const { outcome, deployments } = await resultOf(deployment);
    assert.equal(outcome, 'completed');
    assert.equal(deployments[0]?.trigger.ambiguous, false);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('a backup POST without a connection is sent when the service is back, and is not ambiguous', async () => {
    const { backup: run, serverId } = await backAgain();
    const { outcome, backup } = await resultOf(run);
    assert.equal(outcome, 'completed');
    assert.equal(backup?.trigger.ambiguous, false);
    assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
  });
});
