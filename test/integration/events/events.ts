import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId, eventId, sharedBackupId } from '../../../src/contract/ids/workflow-ids.ts';
import type { EventResult } from '../../../src/contract/event.ts';
import type { Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { replayAll } from '../../support/replay.ts';
import { fresh, startWorld, type World } from '../../support/world.ts';

let world: World;
let receiver: Receiver;

before(async () => {
  const endless = { ends: 'never' };
  world = await startWorld({ defaults: { backup: endless, deployment: endless } });
  receiver = await startReceiver(world);
});

/** Reads so rare that none comes by itself while a test runs. */
const RARE = { intervalMs: 120_000, tries: 2 };

const backUp = (serverId: string) => world.belay.start({ serverId, siteIds: [], backup: RARE });

const backupOf = (serverId: string) =>
  eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);

/** @returns its workflow id */
async function deliver(type: string, data: object, source = 'panel'): Promise<string> {
  const id = fresh('msg');
  const response = await receiver.deliver({ type, data }, { id, source });
  assert.equal(response.status, 202);
  return eventId(source, id);
}

const handled = (workflowId: string): Promise<EventResult> =>
  world.client.workflow.getHandle(workflowId).result() as Promise<EventResult>;

/** Somebody else's backup, in the making. */
async function foreignBackup(serverId: string): Promise<string> {
  world.sandbox.act({ server: serverId });
  return world.sandbox.journal.findLast(({ began: it }) => it?.target === serverId)?.began?.id ?? '';
}

async function polling(run: Run): Promise<void> {
  await eventually('the wait', async () => (await run.status()).waiting?.for !== undefined);
}

/** How often a deployment was read, once its early reads are over and no other is due for long. */
const pollsOf = (run: Run): Promise<number> =>
  eventually('the last early read', async () => {
    const { result, waiting } = await run.status();
    const dueMs = waiting?.for === 'deployment' ? Date.parse(waiting.nextReadAt) - Date.now() : 0;
    return dueMs > RARE.intervalMs / 2 && result.deployments[0]?.polls;
  });

describe('events', { concurrency: 8 }, () => {
  for (const [named, data] of [
    ['its server', (server: string) => ({ server_id: server })],
    ['its id alone', (_server: string, backup: string) => ({ backup_id: backup })],
    ['both', (server: string, backup: string) => ({ server: { id: server }, backup: { id: backup } })],
  ] as const) {
    test(`one that names a backup by ${named} has it read at once`, async () => {
      const serverId = fresh('s');
      const run = await backUp(serverId);
      const backupId = await backupOf(serverId);
      await polling(run);
      world.sandbox.finish({ server: serverId }, 'completed');
      await deliver('backup.completed', data(serverId, backupId));
      const result = await run.result();
      assert.deepEqual([result.outcome, result.backup?.polls], ['completed', 1]);
    });
  }

  test('one that comes before the answer that gives the backup its id is not lost', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 0, ends: 'completed' });
    world.sandbox.fault({ route: 'create-backup', target: serverId, answer: { kind: 'true' }, delayMs: 2_500 });
    const run = await backUp(serverId);
    const backupId = await backupOf(serverId);
    await deliver('backup.completed', { backup_id: backupId });
    const result = await run.result();
    assert.deepEqual([result.outcome, result.backup?.polls], ['completed', 1]);
  });

  test('one about a site has its deployment read at once, and whoever watches it', async () => {
    const siteId = fresh('a');
    world.sandbox.act({ site: siteId });
    const watch = await world.belay.start({ siteIds: [siteId], deploy: RARE }, { type: 'watchDeployment' });
    const other = fresh('a');
    const run = await world.belay.start({ siteIds: [other], deploy: RARE });
    const polls = [await pollsOf(watch), await pollsOf(run)];
    for (const site of [siteId, other]) {
      world.sandbox.finish({ site }, 'completed');
      await deliver('deployment.completed', { site_id: site });
    }
    const results = [await watch.result(), await run.result()];
    const read = polls.map((before) => before + 1);
    assert.deepEqual(
      results.map(({ deployments }) => deployments[0]?.polls),
      read,
    );
  });

  test('one wakes every run that rests on a backup which is there, by the backup or by the server', async () => {
    for (const name of ['backup_id', 'server_id']) {
      const serverId = fresh('s');
      const backupId = await foreignBackup(serverId);
      const input = { serverId, siteIds: [], backup: { ...RARE, backupId } };
      const runs = await Promise.all([world.belay.start(input), world.belay.start(input)]);
      for (const run of runs) await eventually('a read', async () => (await run.status()).result.backup?.polls === 1);
      world.sandbox.finish({ server: serverId }, 'completed');
      await deliver('backup.completed', { [name]: name === 'backup_id' ? backupId : serverId });
      for (const run of runs) assert.equal((await run.result()).backup?.polls, 2);
    }
  });

  test('a failed backup ends its wait after one read, whatever its status still is', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId);
    const backupId = await backupOf(serverId);
    await polling(run);
    const event = await deliver('backup.failed', { backup_id: backupId });
    const result = await resultOf(run);
    assert.deepEqual([result.outcome, result.error?.type, result.backup?.polls], ['failed', 'BackupFailed', 1]);
    assert.match(result.error?.message ?? '', new RegExp(`failed, says ${event}; its status was still "`));
  });

  test('a failed backup that the service reads as completed is completed', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId);
    const backupId = await backupOf(serverId);
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('backup.failed', { backup_id: backupId });
    assert.equal((await run.result()).outcome, 'completed');
  });

  test('a read that is not answered settles nothing: the next one does', async () => {
    const serverId = fresh('s');
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 2_000, tries: 20 } });
    const backupId = await backupOf(serverId);
    world.sandbox.fault({ route: 'backup', target: backupId, times: 2, answer: { kind: 'status', code: 500 } });
    await deliver('backup.failed', { backup_id: backupId });
    const result = await resultOf(run);
    assert.deepEqual([result.outcome, result.backup?.polls], ['failed', 1]);
  });

  test('a failed backup ends nothing where it is another one, or the sender proved nothing', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId);
    const backupId = await backupOf(serverId);
    const path = `/v1/backups/${backupId}`;
    await deliver('backup.failed', { server_id: serverId, backup_id: backupId }, 'open');
    await eventually('a hinted read', () => reads(world.sandbox, path).length === 1);
    await deliver('backup.failed', { server_id: serverId, backup_id: 'another' });
    await eventually('one more', () => reads(world.sandbox, path).length === 2);
    assert.equal((await run.status()).result.outcome, null);
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('x', { backup_id: backupId });
    assert.equal((await run.result()).outcome, 'completed');
  });

  test("somebody else's backup that an event told of is rested on by the next run", async () => {
    const serverId = fresh('s');
    const backupId = await foreignBackup(serverId);
    await deliver('backup.started', { server_id: serverId, backup_id: backupId });
    await eventually('the record', () => isShared(serverId));
    const run = await backUp(serverId);
    await eventually('it rests', async () => (await run.status()).result.backup?.backupId === backupId);
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('backup.completed', { backup_id: backupId });
    const { backup } = await run.result();
    assert.deepEqual([backup?.source, backup?.backupId, backup?.outcome], ['shared', backupId, 'completed']);
    assert.equal(posts(world.sandbox, `/v1/servers/${serverId}/backups`).length, 0);
  });

  test('a run makes a backup of its own where that one has ended, or nobody proved that it began', async () => {
    const ended = fresh('s');
    const old = await foreignBackup(ended);
    world.sandbox.finish({ server: ended }, 'completed');
    await deliver('backup.started', { server_id: ended, backup_id: old });
    await eventually('the record', () => isShared(ended));
    const unproven = fresh('s');
    const theirs = await foreignBackup(unproven);
    await deliver('backup.started', { server_id: unproven, backup_id: theirs }, 'open');
    await sleep(500);
    assert.ok(!(await isShared(unproven)));
    for (const serverId of [ended, unproven]) {
      const run = await backUp(serverId);
      await backupOf(serverId);
      await run.cancel();
      assert.equal((await resultOf(run)).backup?.source ?? 'created', 'created');
    }
  });

  test('a backup of ours that an event tells of is shared by its lock', async () => {
    const serverId = fresh('s');
    const first = await backUp(serverId);
    const backupId = await backupOf(serverId);
    await polling(first);
    await handled(await deliver('backup.started', { server_id: serverId, backup_id: backupId }));
    const second = await backUp(serverId);
    await eventually('the queue', async () => (await second.status()).waiting?.for === 'lock');
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('backup.completed', { backup_id: backupId });
    assert.deepEqual([(await first.result()).outcome, (await second.result()).backup?.source], ['completed', 'shared']);
  });

  test('a deleted site ends its deployment once the service does not find it', async () => {
    const siteId = fresh('a');
    const run = await world.belay.start({ siteIds: [siteId], deploy: RARE });
    await eventually('the wait', async () => (await run.status()).waiting?.for === 'deployment');
    world.sandbox.remove({ site: siteId });
    const event = await deliver('resource.deleted', { site_id: siteId });
    const result = await resultOf(run);
    assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'ResourceDeleted']);
    assert.match(result.error?.message ?? '', new RegExp(`was deleted, says ${event}, and the service answers 404`));
  });

  test('a site that is said to be deleted and still has a status is waited for', async () => {
    const siteId = fresh('a');
    const run = await world.belay.start({ siteIds: [siteId], deploy: RARE });
    const polls = await pollsOf(run);
    await deliver('resource.deleted', { site_id: siteId });
    await eventually('a hinted read', async () => (await run.status()).result.deployments[0]?.polls === polls + 1);
    assert.equal((await run.status()).result.outcome, null);
    world.sandbox.finish({ site: siteId }, 'completed');
    await deliver('x', { site_id: siteId });
    assert.equal((await run.result()).outcome, 'completed');
  });

  test('a flood of different events costs few signals and a bounded number of reads', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId);
    const backupId = await backupOf(serverId);
    await polling(run);
    const startedMs = Date.now();
    const events: string[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      const sent = Array.from({ length: 20 }, () => deliver('x', { server_id: serverId }));
      events.push(...(await Promise.all(sent)));
      await sleep(1_000);
    }
    await Promise.all(events.map(handled));
    const read = () => reads(world.sandbox, `/v1/backups/${backupId}`).length;
    await eventually('all hinted reads', () => read() === 2 * RARE.tries);
    const seconds = (Date.now() - startedMs) / 1000;
    await run.cancel();
    assert.equal((await resultOf(run)).outcome, 'cancelled');
    assert.equal(read(), 2 * RARE.tries, 'twice as many hinted reads as tries');
    const history = await world.client.workflow.getHandle(backupServerId(serverId)).fetchHistory();
    const signals = history.events?.filter((it) => it.workflowExecutionSignaledEventAttributes).length ?? 0;
    assert.ok(signals >= 1 && signals <= seconds + 2, `${signals} signals in ${seconds} s`);
  });
});

test('an event about nothing anybody waits for ends as well', async () => {
  const result = await handled(await deliver('alert.fired', { message: 'disk full' }));
  assert.deepEqual(result, { woken: [], shared: false, notified: [] });
  const site = fresh('a');
  const { woken } = await handled(await deliver('x', { site_id: site }));
  assert.ok(!woken.includes(deploySiteId(site)));
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 30);
});

/** Whether a backup of this server was told of that the next run may rest on. */
const isShared = (serverId: string): Promise<boolean> =>
  world.client.workflow
    .getHandle(sharedBackupId(serverId))
    .describe()
    .then(() => true)
    .catch(() => false);
