import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId, sharedBackupId } from '../../../src/contract/ids/workflow-ids.ts';
import type { EventResult } from '../../../src/contract/event.ts';
import type { Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { replayLater } from '../../support/replay.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh, type TestStack } from '../../support/world.ts';

let world: TestStack;
let receiver: Receiver;

before(async () => {
  const endless = { ends: 'never' };
  world = await sharedStack({ backup: endless, deployment: endless });
  receiver = await startReceiver(world);
});

/** Reads so rare that only hints cause one during a test. */
const RARE = { intervalMs: 1_800_000, tries: 2 };

const backUp = (serverId: string) => world.belay.start({ serverId, siteIds: [], backup: RARE });

const backupOf = (serverId: string) =>
  eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);

/** @returns the workflow id of the event, or of the one that stands for it */
async function deliver(type: string, data: object, source = 'panel'): Promise<string> {
  const response = await receiver.deliver({ type, data }, { source });
  assert.equal(response.status, 202);
  return ((await response.json()) as { event: string }).event;
}

const handled = (workflowId: string): Promise<EventResult> =>
  world.client.workflow.getHandle(workflowId).result() as Promise<EventResult>;

/** A running foreign backup. */
async function foreignBackup(serverId: string): Promise<string> {
  world.sandbox.act({ server: serverId });
  return world.sandbox.journal.findLast(({ began: it }) => it?.target === serverId)?.began?.id ?? '';
}

async function polling(run: Run): Promise<void> {
  await eventually('the wait', async () => (await run.status()).waiting?.kind !== undefined);
}

/** The number of reads of a deployment after its early reads, when the next one is far off. */
const pollsOf = (run: Run): Promise<number> =>
  eventually('the last early read', async () => {
    const { result, waiting } = await run.status();
    const dueMs = waiting?.kind === 'deployment' ? Date.parse(waiting.nextReadAt) - Date.now() : 0;
    return dueMs > RARE.intervalMs / 2 && result.deployments[0]?.polls;
  });

describe('events', { concurrency: 8 }, () => {
  for (const [named, data] of [
    ['its server', (server: string) => ({ server_id: server })],
    ['its id alone', (_server: string, backup: string) => ({ backup_id: backup })],
    ['both', (server: string, backup: string) => ({ server: { id: server }, backup: { id: backup } })],
  ] as const) {
    test(`an event that names a backup by ${named} triggers a read at once`, async () => {
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

  test('an event that arrives before the POST returns the backup id is not lost', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 0, ends: 'completed' });
    world.sandbox.fault({ route: 'create-backup', target: serverId, answer: { kind: 'true' }, delayMs: 2_500 });
    const run = await backUp(serverId);
    const backupId = await backupOf(serverId);
    await deliver('backup.completed', { backup_id: backupId });
    const result = await run.result();
    assert.deepEqual([result.outcome, result.backup?.polls], ['completed', 1]);
  });

  test('an event about a site triggers a read by the deployment and by a watching run', async () => {
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

  test('an event wakes every run that adopted an existing backup, by backup or server id', async () => {
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

  test('a backup.failed event ends the wait after one read, whatever status the service still shows', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId);
    const backupId = await backupOf(serverId);
    await polling(run);
    const event = await deliver('backup.failed', { backup_id: backupId });
    const result = await resultOf(run);
    assert.deepEqual([result.outcome, result.error?.type, result.backup?.polls], ['failed', 'BackupFailed', 1]);
    assert.match(result.error?.message ?? '', new RegExp(`failed according to ${event}; its last status was "`));
  });

  test('a backup.failed event does not fail a backup that the service reports as completed', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId);
    const backupId = await backupOf(serverId);
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('backup.failed', { backup_id: backupId });
    assert.equal((await run.result()).outcome, 'completed');
  });

  test('a failed read after a backup.failed event decides nothing until the next read', async () => {
    const serverId = fresh('s');
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 2_000, tries: 20 } });
    const backupId = await backupOf(serverId);
    world.sandbox.fault({ route: 'backup', target: backupId, times: 2, answer: { kind: 'status', code: 500 } });
    await deliver('backup.failed', { backup_id: backupId });
    const result = await resultOf(run);
    assert.deepEqual([result.outcome, result.backup?.polls], ['failed', 1]);
  });

  test('a backup.failed event ends nothing if it names another backup or its sender is unverified', async () => {
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

  test('the next run adopts a foreign backup announced by an event', async () => {
    const serverId = fresh('s');
    const backupId = await foreignBackup(serverId);
    await deliver('backup.started', { server_id: serverId, backup_id: backupId }, 'mapped');
    await eventually('the record', () => isShared(serverId));
    const run = await backUp(serverId);
    await eventually('the adoption', async () => (await run.status()).result.backup?.backupId === backupId);
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('backup.completed', { backup_id: backupId });
    const { backup } = await run.result();
    assert.deepEqual([backup?.source, backup?.backupId, backup?.outcome], ['shared', backupId, 'completed']);
    assert.equal(posts(world.sandbox, `/v1/servers/${serverId}/backups`).length, 0);
  });

  test('a run makes its own backup if the announced one ended, was guessed, or the sender is unverified', async () => {
    const ended = fresh('s');
    const old = await foreignBackup(ended);
    world.sandbox.finish({ server: ended }, 'completed');
    await deliver('backup.started', { server_id: ended, backup_id: old }, 'mapped');
    await eventually('the record', () => isShared(ended));
    const others = ['open', 'panel'].map((source) => [fresh('s'), source] as const);
    for (const [serverId, source] of others) {
      const theirs = await foreignBackup(serverId);
      const event = await deliver('backup.started', { server_id: serverId, backup_id: theirs }, source);
      assert.equal((await handled(event)).shared, false, source);
    }
    for (const serverId of [ended, ...others.map(([id]) => id)]) {
      const run = await backUp(serverId);
      await backupOf(serverId);
      await run.cancel();
      assert.equal((await resultOf(run)).backup?.source ?? 'created', 'created');
    }
  });

  test('a backup of ours named by an event is shared through its lock', async () => {
    const serverId = fresh('s');
    const first = await backUp(serverId);
    const backupId = await backupOf(serverId);
    await polling(first);
    await handled(await deliver('backup.started', { server_id: serverId, backup_id: backupId }, 'mapped'));
    const second = await backUp(serverId);
    await eventually('the queue', async () => (await second.status()).waiting?.kind === 'lock');
    world.sandbox.finish({ server: serverId }, 'completed');
    await deliver('backup.completed', { backup_id: backupId });
    assert.deepEqual([(await first.result()).outcome, (await second.result()).backup?.source], ['completed', 'shared']);
  });

  test('a resource.deleted event ends a deployment once the service no longer finds its site', async () => {
    const siteId = fresh('a');
    const run = await world.belay.start({ siteIds: [siteId], deploy: RARE });
    await eventually('the wait', async () => (await run.status()).waiting?.kind === 'deployment');
    world.sandbox.remove({ site: siteId });
    const event = await deliver('resource.deleted', { site_id: siteId });
    const result = await resultOf(run);
    assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'ResourceDeleted']);
    assert.match(
      result.error?.message ?? '',
      new RegExp(`was deleted according to ${event}, and the service answers 404`),
    );
  });

  test('a deployment continues if its site is reported deleted but still has a status', async () => {
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

  test('a flood of different events causes few signals and a bounded number of reads', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId);
    await polling(run);
    // Not the requests: a slow answer is asked for twice.
    const polls = async () => (await run.status()).result.backup?.polls ?? 0;
    const events: string[] = [];
    const batch = async () => {
      const sent = Array.from({ length: 20 }, () => deliver('x', { server_id: serverId }));
      events.push(...(await Promise.all(sent)));
    };
    await eventually('all hinted reads', async () => (await batch(), await polls()) >= 2 * RARE.tries);
    await batch();
    await Promise.all(events.map(handled));
    assert.equal(await polls(), 2 * RARE.tries, 'twice as many hinted reads as tries');
    await run.cancel();
    assert.equal((await resultOf(run)).outcome, 'cancelled');
    const history = await world.client.workflow.getHandle(backupServerId(serverId)).fetchHistory();
    const signals = history.events?.filter((it) => it.workflowExecutionSignaledEventAttributes).length ?? 0;
    // How far apart they are is the subject of test/unit/throttled-signal.test.ts.
    assert.ok(signals >= 1 && signals < events.length / 2, `${signals} signals for ${events.length} events`);
  });
});

test('an event that no run waits for is handled', async () => {
  const result = await handled(await deliver('alert.fired', { message: 'disk full' }));
  assert.deepEqual(result, { woken: [], shared: false, notified: [] });
  const site = fresh('a');
  const { woken } = await handled(await deliver('x', { site_id: site }));
  assert.ok(!woken.includes(deploySiteId(site)));
});

replayLater('events', () => world.client, 31);

/** Whether an event announced a backup of this server that the next run may adopt. */
const isShared = (serverId: string): Promise<boolean> =>
  world.client.workflow
    .getHandle(sharedBackupId(serverId))
    .describe()
    .then(() => true)
    .catch(() => false);
