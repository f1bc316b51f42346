/** An operator resets an activity in the Temporal UI, which lets Temporal try it again. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../../../src/contract/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { isPost } from '../../support/post-activities.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { fresh, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 500, tries: 100 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

/** While its worker waits for the answer. */
async function resetPost(workflowId: string, path: string): Promise<void> {
  await eventually(`POST ${path}`, () => posts(world.sandbox, path).length === 1);
  const { client, namespace } = world;
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const post = raw.pendingActivities?.find(({ activityType }) => isPost(activityType));
  const id = post?.activityId;
  assert.ok(id, 'the POST is a pending activity');
  await client.workflowService.resetActivity({
    namespace,
    execution: { workflowId },
    identity: 'an operator',
    id,
  });
}

describe('the reset of an activity that sends a request', { concurrency: true }, () => {
  test('sends no second deployment, and the run finds the first one', async () => {
    const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
    const path = `/v1/sites/${siteId}/deploy`;
    world.sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'none' }, effect: true });
    const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
    await resetPost(deploySiteId(siteId), path);
    const { outcome, error, deployments } = await resultOf(run);
    assert.equal(outcome, 'completed', error?.message);
    assert.deepEqual(deployments[0]?.trigger, { attempts: 1, ambiguous: true, reconciledBy: 'changed' });
    assert.equal(posts(world.sandbox, path).length, 1);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('creates no backup but the one that follows a request in doubt', async () => {
    const serverId = fresh('s');
    const path = `/v1/servers/${serverId}/backups`;
    world.sandbox.fault({ route: 'create-backup', target: serverId, answer: { kind: 'none' }, effect: true });
    const run = await world.belay.start({ serverId, siteIds: [], backup: PACE });
    await resetPost(backupServerId(serverId), path);
    const { outcome, error, backup } = await resultOf(run);
    assert.equal(outcome, 'completed', error?.message);
    assert.deepEqual(backup?.trigger, { attempts: 2, ambiguous: true, reconciledBy: 'resent' });
    assert.equal(posts(world.sandbox, path).length, 2);
  });
});
