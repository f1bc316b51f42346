import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayAll } from '../../support/replay.ts';
import { fresh, startWorld, type World } from '../../support/world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});

/** The history of a wait of so many tries. */
async function historyOf(tries: number) {
  const serverId = fresh('s');
  world.sandbox.script({ server: serverId }, { ends: 'never' });
  await resultOf(await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 200, tries } }));
  return (await world.client.workflow.getHandle(backupServerId(serverId)).fetchHistory()).events ?? [];
}

// Each test has sites and servers of its own, and most of them wait: they run at once.
describe('waiting', { concurrency: 6 }, () => {
  test('a poll costs at most six history events', async () => {
    const timers = (await historyOf(11)).flatMap((it, index) => (it.timerFiredEventAttributes ? [index] : []));
    const costs = timers.slice(1).map((index, before) => index - (timers[before] ?? 0));
    // A machine that is held up makes one or another dearer.
    const median = costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Infinity;
    assert.ok(costs.length >= 5 && median <= 6, `${costs.join(', ')} events`);
  });

  test('a whole run of fifty polls stays under four hundred events in its longest history', async () => {
    assert.ok((await historyOf(50)).length < 400);
  });

  test('a hint is followed by a read at once, and uses up no try', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 1_000 });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 60_000, tries: 1 } });
    await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length === 1);
    await sleep(1_100);
    const startedMs = Date.now();
    await world.client.workflow.getHandle(backupServerId(serverId)).signal('hint');
    const result = await run.result();
    assert.equal(result.backup?.polls, 1);
    assert.ok(Date.now() - startedMs < 30_000, 'the interval was waited out');
  });

  test('a hint that came before the wait began is kept', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 0 });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 60_000, tries: 1 } });
    // Sent as soon as there is anybody to send it to: around the trigger.
    await eventually('the operation', () =>
      world.client.workflow
        .getHandle(backupServerId(serverId))
        .signal('hint')
        .then(() => true)
        .catch(() => false),
    );
    assert.equal((await run.result()).outcome, 'completed');
  });

  test('a flood of hints costs at most one read a second and twice the tries in all', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 120_000, tries: 2 } });
    const operation = world.client.workflow.getHandle(backupServerId(serverId));
    const { began: backup } = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]);
    const startedMs = Date.now();
    const read = () => reads(world.sandbox, `/v1/backups/${backup?.id}`).length;
    for (let sent = 0; sent < 60; sent += 1) {
      await operation.signal('hint');
      const seconds = (Date.now() - startedMs) / 1000;
      assert.ok(read() <= seconds + 1, `${read()} reads in ${seconds} s`);
      await sleep(100);
    }
    await eventually('all hinted reads', () => operation.signal('hint').then(() => read() >= 4));
    await run.cancel();
    assert.equal((await resultOf(run)).outcome, 'cancelled');
    assert.equal(read(), 4, 'two tries were to come');
  });

  test('a token that is swapped is looked for every 15 s, however long the interval', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 500 });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 600_000, tries: 1 } });
    const backup = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]);
    const path = `/v1/backups/${backup.began?.id}`;
    world.sandbox.fault({ route: 'backup', target: backup.began?.id ?? '', answer: { kind: 'status', code: 401 } });
    await sleep(600);
    await world.client.workflow.getHandle(backupServerId(serverId)).signal('hint');
    assert.equal((await run.result()).outcome, 'completed');
    assert.equal(reads(world.sandbox, path).length, 2);
  });

  test('reads one and three seconds after a trigger where the interval is longer', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { durationMs: 2_000 });
    const run = await world.belay.start({ siteIds: [siteId], deploy: { intervalMs: 20_000, tries: 2 } });
    const result = await run.result();
    assert.equal(result.deployments[0]?.evidence, 'transition');
    assert.equal(result.deployments[0]?.polls, 2);
  });

  test('tells what it waits for while it waits', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { durationMs: 3_000, words: ['building'] });
    const run = await world.belay.start({ siteIds: [siteId], deploy: { intervalMs: 500, tries: 20 } });
    const { result, waiting } = await eventually('a try', async () => {
      const status = await run.status();
      return status.waiting?.for === 'deployment' && status.waiting.lastStatus === 'building' ? status : null;
    });
    assert.equal(result.outcome, null);
    assert.equal(result.phase, 'deploy');
    assert.equal(result.deployments[0]?.lastStatus, 'building');
    assert.equal(result.deployments[0]?.evidence, 'transition');
    assert.ok(waiting?.for === 'deployment' && waiting.tries === 20);
    const operation = world.client.workflow.getHandle(deploySiteId(siteId));
    const details = await operation.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.match(details.currentDetails, /\ntry \d+ of 20, last `building`, next read at /);
    await run.result();
  });
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 5);
});
