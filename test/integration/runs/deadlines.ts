import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { siteAfter } from '../../support/sites.ts';
import { addWorker, belayOn, fresh, startTestStack, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 300 };

let world: TestStack;
before(async () => {
  world = await startTestStack({ defaults: { backup: { durationMs: 0 }, deployment: { durationMs: 0 } } });
});

const sent = (siteId: string) => posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length;

describe('deadlines', { concurrency: 6 }, () => {
  test('a run whose worker was away too long after its backup deploys nothing, and says why', async () => {
    const taskQueue = fresh('q');
    const worker = await addWorker(world, taskQueue, world.sandbox.url);
    const belay = await belayOn(world, taskQueue);
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const backup = { ...PACE, maxAgeAtDeployMs: 1 };
    const run = await belay.start({ serverId, siteIds: [siteId], backup, deploy: PACE });
    await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length > 0);
    await worker.stop();
    world.sandbox.finish({ server: serverId }, 'completed');
    await addWorker(world, taskQueue, world.sandbox.url);
    const { outcome, error, backup: made, deployments } = await resultOf(run);
    assert.deepEqual([outcome, error?.type, made?.outcome], ['not_started', 'TooLate', 'completed']);
    assert.match(error?.message ?? '', /the backup may be at most 1ms old/);
    assert.deepEqual(
      deployments.map((it) => it.outcome),
      ['not_started'],
    );
    assert.equal(sent(siteId), 0);
  });

  test('a deployment that runs at the deadline is not cut short, and the next site is not deployed', async () => {
    const [first, second] = [fresh('a'), fresh('a')];
    world.sandbox.script({ site: first }, { ends: 'never' });
    // Long enough to begin, and over once the test has waited for it.
    const limits = { startDeploysWithinMs: 10_000, keepGoing: true };
    const run = await world.belay.start({ siteIds: [first, second], deploy: PACE, ...limits });
    await eventually('the first deployment', () => began(world.sandbox, 'deployment', first).length > 0);
    const { startedAt } = (await run.status()).result;
    await eventually(
      'the deadline',
      () => Date.now() > Date.parse(startedAt ?? '') + limits.startDeploysWithinMs + 1_000,
    );
    world.sandbox.finish({ site: first }, 'completed');
    const { outcome, error, deployments } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['not_started', 'TooLate']);
    assert.deepEqual(
      deployments.map((it) => it.outcome),
      ['completed', 'not_started'],
    );
    assert.equal(sent(second), 0);
  });

  test('a request is not sent if the deadline passes while another deployment is in progress', async () => {
    const siteId = siteAfter(world.sandbox, { ends: 'never' }, { durationMs: 0 });
    const run = await world.belay.start({ siteIds: [siteId], deploy: PACE, startDeploysWithinMs: 8_000 });
    await eventually('its reads', () => reads(world.sandbox, `/v1/sites/${siteId}/deployments/latest`).length > 2);
    const { startedAt } = (await run.status()).result;
    await eventually('the deadline', () => Date.now() > Date.parse(startedAt ?? '') + 9_000);
    world.sandbox.act({ site: siteId });
    assert.equal((await resultOf(run)).error?.type, 'TooLate');
    assert.equal(sent(siteId), 0);
  });

  test('lists can be filtered by how the POST of a backup or deployment ended', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    await resultOf(await world.belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE }));
    for (const workflowId of [backupServerId(serverId), deploySiteId(siteId)]) {
      const query = `WorkflowId = '${workflowId}' AND BelayTrigger = 'accepted'`;
      // Temporal updates its lists a moment later.
      await eventually(query, async () => (await world.client.workflow.count(query)).count === 1);
    }
  });

  test('a run that is too late does not wait for the lock', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { ends: 'never' });
    await world.belay.start({ siteIds: [siteId], deploy: PACE });
    await eventually('the deployment', () => began(world.sandbox, 'deployment', siteId).length > 0);
    const limits = { startDeploysWithinMs: 1, busyTimeoutMs: 500 };
    const late = await resultOf(await world.belay.start({ siteIds: [siteId], deploy: PACE, ...limits }));
    assert.deepEqual([late.outcome, late.error?.type], ['not_started', 'TooLate']);
    assert.equal(sent(siteId), 1);
  });

  test('deploysUntil is a time of day in its time zone, after an instant', async () => {
    const siteId = fresh('a');
    const yesterday = new Date(Date.now() - 48 * 3_600_000).toISOString();
    const until = { time: '06:00', timeZone: 'Europe/Berlin' };
    const late = await world.belay.start({
      siteIds: [siteId],
      deploy: PACE,
      deploysUntil: { ...until, after: yesterday },
    });
    const { error } = await resultOf(late);
    assert.equal(error?.type, 'TooLate');
    assert.match(error?.message ?? '', /until 06:00 \(Europe\/Berlin\)/);
    const nowhere = await world.belay.start({
      siteIds: [siteId],
      deploy: PACE,
      deploysUntil: { ...until, timeZone: 'Europe/Nowhere' },
    });
    assert.equal((await resultOf(nowhere)).error?.type, 'Usage');
    assert.equal(sent(siteId), 0);
  });
});
