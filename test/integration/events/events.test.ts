/** Events that reach runs through a real server: by id, by record, by search, with a claim, and in a flood. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventTaskQueue } from '../../../src/contract/names.ts';
import { deploySiteId, sharedBackupId } from '../../../src/contract/ids.ts';
import type { Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { replayLater } from '../../support/replay-later.ts';
import { backupOutside } from '../../support/sites.ts';
import { fresh, TASK_QUEUE } from '../../support/world.ts';
import { eventStack, handled, type EventStack } from './shared.ts';

let world: EventStack;
let receiver: Receiver;

before(async () => {
  world = await eventStack();
  receiver = await startReceiver(world);
});

/** Reads so rare that only hints cause one during a test. */
const RARE = { intervalMs: 1_800_000, tries: 2 };

const backUp = (serverId: string) => world.belay.start({ serverId, siteIds: [], backup: RARE });

/** @returns the workflow id of the event, or of the one that stands for it */
async function deliver(type: string, data: object, source = 'panel'): Promise<string> {
  // Temporal may be slow to store it. Then a sender tries again.
  const response = await eventually('the delivery', async () => {
    const answer = await receiver.deliver({ type, data }, { source });
    return answer.status !== 503 && answer;
  });
  assert.equal(response.status, 202);
  return ((await response.json()) as { event: string }).event;
}

/** Lists of Temporal lag behind. */
const listed = ({ workflowId }: Run) =>
  eventually('it in the list', async () => (await world.client.workflow.count(`WorkflowId = '${workflowId}'`)).count);

describe('events', { concurrency: 8 }, () => {
  test('events are handled on a task queue of their own', async () => {
    const event = await deliver('x', { server_id: fresh('s') });
    await handled(event);
    const { taskQueue } = await world.client.workflow.getHandle(event).describe();
    assert.equal(taskQueue, eventTaskQueue(TASK_QUEUE));
  });

  test('an event reaches the runs that a search finds', async () => {
    const [siteId, serverId] = [fresh('a'), fresh('s')];
    world.sandbox.act({ site: siteId });
    const backupId = backupOutside(world.sandbox, serverId);
    const watch = await world.belay.start({ siteIds: [siteId], deploy: RARE }, { type: 'watchDeployment' });
    const input = { serverId, siteIds: [], backup: { ...RARE, backupId } };
    const adopting = [await world.belay.start(input), await world.belay.start(input)];
    await eventually('its read', () => reads(world.sandbox, `/v1/sites/${siteId}/deployments/latest`).length > 0);
    await eventually('their reads', () => reads(world.sandbox, `/v1/backups/${backupId}`).length >= adopting.length);
    await Promise.all([watch, ...adopting].map(listed));
    world.sandbox.finish({ site: siteId }, 'completed');
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('deployment.completed', { site_id: siteId });
    await deliver('backup.completed', { server_id: serverId });
    assert.equal((await watch.result()).outcome, 'completed');
    for (const run of adopting) assert.equal((await run.result()).backup?.polls, 2);
  });

  test('an event whose claim the service confirms ends the wait for the operation that it names', async () => {
    const siteId = fresh('a');
    const run = await world.belay.start({ siteIds: [siteId], deploy: RARE });
    await eventually('the wait', async () => (await run.status()).waiting?.kind === 'deployment');
    world.sandbox.remove({ site: siteId });
    const event = await deliver('resource.deleted', { site_id: siteId });
    const result = await resultOf(run);
    assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'ResourceDeleted']);
    assert.ok(result.error?.message.includes(`was deleted according to ${event}, and the service answers 404`));
    assert.ok((await handled(event)).woken.includes(deploySiteId(siteId)));
  });

  test('the memo of a record announces a foreign backup to the next run', async () => {
    const serverId = fresh('s');
    const backupId = backupOutside(world.sandbox, serverId);
    const event = await deliver('backup.started', { server_id: serverId, backup_id: backupId }, 'mapped');
    assert.equal((await handled(event)).shared, true);
    await world.client.workflow.getHandle(sharedBackupId(serverId)).describe();
    const run = await backUp(serverId);
    await eventually('the adoption', async () => (await run.status()).result.backup?.backupId === backupId);
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('backup.completed', { server_id: serverId });
    const { backup } = await run.result();
    assert.deepEqual([backup?.source, backup?.backupId, backup?.outcome], ['shared', backupId, 'completed']);
    assert.equal(posts(world.sandbox, `/v1/servers/${serverId}/backups`).length, 0);
  });
});

replayLater('events', () => world.client, 15);
