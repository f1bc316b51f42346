/** Two services in one namespace: each has servers and sites with the same ids. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { EventResult } from '../../../src/features/events/shapes.ts';
import { SIGNALS } from '../../../src/contract/names.ts';
import { backupServerId, failedBackupId, sharedBackupId } from '../../../src/contract/ids.ts';
import type { Belay } from '../../../src/starter.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { startReceiver } from '../../support/receiver.ts';
import { definitionsOf } from '../../support/schedule-files.ts';
import { nightly } from '../../support/schedules.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, belayOn, fresh, TOKEN, type TestStack } from '../../support/world.ts';

/** Reads so rare that only hints cause one during a test. */
const RARE = { intervalMs: 1_800_000, tries: 2 };
const PACE = { intervalMs: 200, tries: 2_000 };
const REMEDY = /namespace of its own/;

let world: TestStack;
/** The second service. */
let other: { sandbox: Sandbox; belay: Belay };
before(async () => {
  world = await sharedStack();
  const quick = { durationMs: 300 };
  const sandbox = await startSandbox({ token: TOKEN, defaults: { backup: quick, deployment: quick } });
  atEnd(() => sandbox.close());
  await addWorker(world, 'other', sandbox.url);
  other = { sandbox, belay: await belayOn(world, 'other') };
});

/** The event that a delivery became. */
async function eventOf(response: Response) {
  assert.equal(response.status, 202);
  const { event: workflowId } = (await response.json()) as { event: string };
  const handle = world.client.workflow.getHandle(workflowId);
  return {
    workflowId,
    input: await world.belay.getEvent(workflowId),
    result: () => handle.result() as Promise<EventResult>,
  };
}

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('two services in one namespace', { concurrency: 8 }, () => {
  test('a run does not share a backup of the other service: it is refused, and nothing is deployed', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const maker = await world.belay.start({ serverId, siteIds: [], backup: PACE });
    await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length > 0);
    const run = await other.belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE });
    const { outcome, error } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['not_started', 'Refused']);
    assert.match(error?.message ?? '', REMEDY);
    assert.equal(posts(other.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    world.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await resultOf(maker)).outcome, 'completed');
  });

  test('a run does not wait for a deployment of the other service: it is refused', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { ends: 'never' });
    const holder = await world.belay.start({ siteIds: [siteId], deploy: PACE });
    await eventually('the deployment', () => began(world.sandbox, 'deployment', siteId).length > 0);
    for (const ifBusy of ['wait', 'fail'] as const) {
      const { outcome, error } = await resultOf(await other.belay.start({ siteIds: [siteId], deploy: PACE, ifBusy }));
      assert.deepEqual([outcome, error?.type], ['not_started', 'Refused'], ifBusy);
      assert.match(error?.message ?? '', REMEDY);
    }
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await resultOf(holder)).outcome, 'completed');
  });

  test('the same key at the other service is rejected and does not return the verdict of the first', async () => {
    const siteId = fresh('a');
    const run = { siteIds: [siteId], deploy: PACE };
    await resultOf(await world.belay.start(run, { key: 'release-7' }));
    await assert.rejects(other.belay.start(run, { key: 'release-7' }), { type: 'KeyReused' });
    assert.equal(posts(other.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  });

  test('a completed backup of the other service is not reused', async () => {
    const serverId = fresh('s');
    const first = await resultOf(await world.belay.start({ serverId, siteIds: [], backup: PACE }));
    const again = { serverId, siteIds: [], backup: { ...PACE, maxAgeMs: 600_000 } };
    // The list of closed runs lags: once it has the first one, the same service reuses it.
    await eventually('the backup in the list', async () => {
      const { backup } = await resultOf(await world.belay.start(again));
      return backup?.source === 'reused';
    });
    const second = await resultOf(await other.belay.start(again));
    assert.deepEqual([first.backup?.source, second.backup?.source], ['created', 'created']);
    assert.equal(began(other.sandbox, 'backup', serverId).length, 1);
  });

  test('a run for the other service is refused by the workers of this one', async () => {
    const siteId = fresh('a');
    const run = await world.belay.start({ siteIds: [siteId], deploy: PACE, service: other.sandbox.url });
    const { outcome, error } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['not_started', 'Refused']);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  });

  test('a schedule of the other service is neither overwritten nor pruned', async () => {
    const { fleet, file, handle } = nightly(world);
    await world.belay.schedules.apply(await world.belay.schedules.plan(definitionsOf(file()), []));
    await assert.rejects(other.belay.schedules.plan(definitionsOf(file()), []), {
      type: 'Usage',
      message: /is there for/,
    });
    // Lists of Temporal lag behind.
    const change = await eventually('it in the list', async () =>
      (await other.belay.schedules.plan([], [fleet])).find(({ scheduleId }) => scheduleId === handle.scheduleId),
    );
    assert.equal(change.action, 'unmanaged');
  });
});

// After the others, because sandboxes number their backups alike: an event may name a backup that each of them has.
describe('events of two services in one namespace', { concurrency: 4 }, () => {
  for (const { kind, data } of [
    { kind: 'backup.failed', data: (_serverId: string, backupId: string) => ({ backup_id: backupId }) },
    { kind: 'backup.completed', data: (serverId: string) => ({ server_id: serverId }) },
  ]) {
    test(`a ${kind} event of the other service, with the same ids, wakes no run and fails none`, async () => {
      const serverId = fresh('s');
      world.sandbox.script({ server: serverId }, { ends: 'never' });
      const run = await world.belay.start({ serverId, siteIds: [], backup: RARE });
      const backupId = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);
      await eventually('the wait', async () => (await run.status()).waiting);
      const receiver = await startReceiver({ ...world, taskQueue: 'other' });
      const event = await eventOf(await receiver.deliver({ type: kind, data: data(serverId, backupId) }));
      assert.equal(event.input.service, other.sandbox.url);
      assert.deepEqual((await event.result()).woken, []);
      const history = await world.client.workflow.getHandle(backupServerId(serverId)).fetchHistory();
      assert.ok(!history.events?.some((it) => it.workflowExecutionSignaledEventAttributes), 'it was woken');
      // The hint itself is refused too, however it came.
      const services = [other.sandbox.url];
      const claim = { kind: 'backup.failed', backupId, event: 'by hand' } as const;
      await world.client.workflow.getHandle(backupServerId(serverId)).signal(SIGNALS.hint, { claim, services });
      const own = await startReceiver(world);
      world.sandbox.finish({ server: serverId }, 'completed');
      await own.deliver({ type: 'backup.completed', data: { server_id: serverId } });
      const { outcome, backup } = await resultOf(run);
      assert.deepEqual([outcome, backup?.polls], ['completed', 1]);
    });
  }

  test('an event that reached the workers of another service than its own wakes, shares and records nothing', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const run = await world.belay.start({ serverId, siteIds: [], backup: RARE });
    const backupId = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);
    const receiver = await startReceiver(world, {}, other.sandbox.url);
    const nothing = { woken: [], shared: false, notified: [], otherThan: world.sandbox.url };
    for (const type of ['backup.failed', 'backup.started']) {
      const data = { server_id: serverId, backup_id: backupId };
      const event = await eventOf(await receiver.deliver({ type, data }, { source: 'mapped' }));
      assert.deepEqual(await event.result(), nothing);
    }
    for (const id of [failedBackupId(backupId), sharedBackupId(serverId)]) {
      await assert.rejects(world.client.workflow.getHandle(id).describe(), { name: 'WorkflowNotFoundError' });
    }
    assert.equal((await run.status()).result.backup?.polls, 0);
    await run.cancel();
  });

  test('an alert of the other service holds no server of a rollout, and one of this service does', async () => {
    const [first, serverId] = [fresh('s'), fresh('s')];
    world.sandbox.script({ server: first }, { ends: 'never' });
    const wave = (name: string, server: string) => ({ name, targets: [{ serverId: server, siteIds: [] }] });
    const rollout = await world.belay.rollouts.start({
      ...{ name: fresh('r'), fleet: 'shop', key: 'k', maxAtOnce: 1, maxFailures: 0, onFailures: 'stop' },
      waves: [wave('one', first), wave('two', serverId)],
      options: { backup: PACE },
    });
    await eventually('the first backup', () => began(world.sandbox, 'backup', first).length > 0);
    // The event searches for it, and lists of Temporal lag behind.
    const query = `WorkflowId = '${rollout.workflowId}'`;
    await eventually('it in the list', async () => (await world.client.workflow.count(query)).count === 1);
    const alert = { type: 'alert.fired', data: { server_id: serverId } };
    const receiver = await startReceiver({ ...world, taskQueue: 'other' });
    const event = await eventOf(await receiver.deliver(alert));
    assert.equal((await event.result()).held, undefined);
    const own = await eventOf(await (await startReceiver(world)).deliver(alert));
    assert.deepEqual((await own.result()).held, [rollout.workflowId]);
    const held = () =>
      rollout.status().then(({ result }) => result.decisions.filter(({ action }) => action === 'hold'));
    assert.deepEqual(
      (await held()).map(({ by }) => by),
      [own.workflowId],
    );
    // Before its only running server ends: then it would end as well.
    await rollout.abort({ by: 'test', reason: 'done' });
    world.sandbox.finish({ server: first }, 'completed');
  });
});
