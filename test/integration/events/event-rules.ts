import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { backupServerId, eventId, runEndId, sharedBackupId } from '../../../src/contract/ids/workflow-ids.ts';
import type { BackupRecord, Claim, EventResult } from '../../../src/contract/event.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { resultOf } from '../../support/outcome.ts';
import { secretFile, startReceiver, type Receiver } from '../../support/receiver.ts';
import { resetToEnd } from '../../support/reset.ts';
import { startWorkerProcess } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';
import { addWorker, belayOn, fresh, startTestStack, temporalEnv, TOKEN, type TestStack } from '../../support/world.ts';

let world: TestStack;
let receiver: Receiver;
let chat: LiteralService;

const addressOf = (path: string) => secretFile(`${chat.url}/${path}`);
const called = (path: string) => chat.requests.filter((request) => request === `POST /${path}`).length;

before(async () => {
  chat = await literalService((_request, response) => void response.end());
  const notify = { targets: { ops: await addressOf('ops') } };
  const endless = { ends: 'never' };
  world = await startTestStack({ configuration: { notify }, defaults: { backup: endless, deployment: endless } });
  receiver = await startReceiver(world);
});

const RARE = { intervalMs: 1_800_000, tries: 2 };

async function deliver(type: string, data: object, timestamp = new Date().toISOString()): Promise<void> {
  assert.equal((await receiver.deliver({ type, data, timestamp }, { source: 'mapped' })).status, 202);
}

async function foreignBackup(serverId: string): Promise<string> {
  world.sandbox.act({ server: serverId });
  return world.sandbox.journal.findLast(({ began: it }) => it?.target === serverId)?.began?.id ?? '';
}

const announced = (serverId: string, backupId: string) =>
  eventually('the record', async () => {
    const described = await world.client.workflow
      .getHandle(sharedBackupId(serverId))
      .describe()
      .catch(() => null);
    return (described?.memo as { record?: BackupRecord } | undefined)?.record?.backupId === backupId;
  });

/** The backup that the next run of a server adopts. */
async function takenBy(serverId: string): Promise<string | null | undefined> {
  const run = await world.belay.start({ serverId, siteIds: [], backup: RARE });
  await eventually('its backup', async () => (await run.status()).result.backup?.backupId);
  await run.cancel();
  return (await resultOf(run)).backup?.backupId;
}

describe('events', { concurrency: 6 }, () => {
  test('no run adopts a foreign backup that was reported failed', async () => {
    const serverId = fresh('s');
    const theirs = await foreignBackup(serverId);
    await deliver('backup.started', { server_id: serverId, backup_id: theirs });
    await announced(serverId, theirs);
    await deliver('backup.failed', { backup_id: theirs });
    await eventually('the report', () =>
      world.client.workflow
        .getHandle(`failed-backup:${theirs}`)
        .describe()
        .then(
          () => true,
          () => false,
        ),
    );
    assert.notEqual(await takenBy(serverId), theirs);
    assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
  });

  test('a run adopts the newer of two foreign backups, whichever was announced last', async () => {
    const serverId = fresh('s');
    const [old, newer] = [await foreignBackup(serverId), await foreignBackup(serverId)];
    await deliver('backup.started', { server_id: serverId, backup_id: newer });
    await announced(serverId, newer);
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    const data = { server_id: serverId, backup_id: old };
    const response = await receiver.deliver({ type: 'backup.started', timestamp: hourAgo, data }, { source: 'mapped' });
    const { event } = (await response.json()) as { event: string };
    await eventually(
      'the end of the handling',
      async () => (await world.client.workflow.getHandle(event).describe()).historyLength > 15,
    );
    assert.equal(await takenBy(serverId), newer);
  });

  test('a backup dated in the future does not count as newer than the next one', async () => {
    const serverId = fresh('s');
    const [old, newer] = [await foreignBackup(serverId), await foreignBackup(serverId)];
    const data = { server_id: serverId, backup_id: old };
    await deliver('backup.started', data, '2099-01-01T00:00:00Z');
    await announced(serverId, old);
    await deliver('backup.started', { server_id: serverId, backup_id: newer });
    await announced(serverId, newer);
    assert.equal(await takenBy(serverId), newer);
  });

  test('claims about other backups cause no more reads than hints and hide no claim about ours', async () => {
    const serverId = fresh('s');
    const run = await world.belay.start({ serverId, siteIds: [], backup: RARE });
    const backupId = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);
    await eventually('the wait', async () => (await run.status()).waiting);
    const operation = world.client.workflow.getHandle(backupServerId(serverId));
    const say = (id: string) => {
      const claim: Claim = { kind: 'backup.failed', backupId: id, event: 'event:x' };
      return operation.signal('hint', { claim });
    };
    for (let index = 0; index < 150; index += 1) await say(`other-${index}`);
    await say(backupId);
    const { error, backup } = await resultOf(run);
    assert.equal(error?.type, 'BackupFailed');
    assert.ok((backup?.polls ?? Infinity) <= 2 * RARE.tries + 1, `${backup?.polls} reads`);
  });

  test('an ended run whose last step is reset ends again without a second notification', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 0, ends: 'failed' });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 300, tries: 5 } });
    const { workflowId, runId } = await resultOf(run);
    const end = world.client.workflow.getHandle(runEndId(workflowId ?? '', runId ?? ''));
    assert.deepEqual(await end.result(), ['ops']);
    const again = await resetToEnd(world.client, workflowId ?? '');
    assert.equal((await resultOf(world.belay.get(workflowId ?? '', again))).error?.type, 'BackupFailed');
    const query = `WorkflowId = '${runEndId(workflowId ?? '', runId ?? '')}'`;
    assert.equal((await world.client.workflow.count(query)).count, 1);
  });

  test('a heartbeat that one of three workers knows is admitted and called by that worker', async () => {
    const queue = fresh('queue');
    const heartbeats = { night: await addressOf('night') };
    await addWorker(world, queue, world.sandbox.url);
    await addWorker(world, queue, world.sandbox.url);
    await addWorker(world, queue, world.sandbox.url, { notify: { heartbeats } });
    const belay = await belayOn(world, queue);
    const runs = await Promise.all(
      Array.from({ length: 6 }, () => {
        const serverId = fresh('s');
        world.sandbox.script({ server: serverId }, { durationMs: 0, ends: 'completed' });
        return belay.start({ serverId, siteIds: [], heartbeat: 'night', backup: { intervalMs: 300, tries: 100 } });
      }),
    );
    const results = await Promise.all(runs.map(resultOf));
    assert.deepEqual(new Set(results.map(({ outcome, error }) => error?.message ?? outcome)), new Set(['completed']));
    await eventually('the heartbeats', () => called('night') === runs.length);
  });

  test('no event is lost if a worker is killed during a stream of events', async () => {
    const taskQueue = fresh('queue');
    const own = await startReceiver({ ...world, taskQueue });
    const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
    writeFileSync(BELAY_CONFIG, JSON.stringify({ notify: { targets: { ops: await addressOf(`ops/${taskQueue}`) } } }));
    const service = { BELAY_API_URL: world.sandbox.url, BELAY_API_TOKEN: TOKEN };
    const env = { ...temporalEnv(world), BELAY_TASK_QUEUE: taskQueue, BELAY_CONFIG, ...service };
    const ids = Array.from({ length: 40 }, (_, index) => `msg_${index}`);
    const taken = ids.map(async (id) => (await own.deliver({ type: 'alert.fired' }, { id })).status);
    assert.deepEqual(new Set(await Promise.all(taken)), new Set([202]));
    const first = await startWorkerProcess(env);
    await eventually('the first call', () => called(`ops/${taskQueue}`) > 0);
    first.process.kill('SIGKILL');
    await first.finished;
    await startWorkerProcess(env);
    for (const id of ids) {
      const handle = world.client.workflow.getHandle(eventId('panel', id));
      assert.deepEqual(((await handle.result()) as EventResult).notified, ['ops']);
    }
  });

  test('an event workflow started with malformed input fails at once', async () => {
    for (const args of [[], [null], [{ event: null, reactions: [] }], [{ event: {}, reactions: [] }]]) {
      const started = await world.client.workflow.start('handleEvent', {
        workflowId: fresh('x'),
        taskQueue: 'belay',
        args,
      });
      await assert.rejects(started.result());
    }
  });
});
