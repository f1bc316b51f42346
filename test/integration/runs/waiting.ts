import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type proto from '@temporalio/proto';
import { TIMING } from '../../../src/contract/timing.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayLater } from '../../support/replay.ts';
import { fresh, startTestStack, type TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await startTestStack();
});

/** The time that the workflow saw at an event: the start of the task before it. */
function workflowTimeMs(events: proto.temporal.api.history.v1.IHistoryEvent[], index: number): number {
  const task = events.slice(0, index).findLast((it) => it.workflowTaskStartedEventAttributes);
  return tsToMs(task?.eventTime);
}

/** The history of a wait with this number of tries. */
async function historyOf(tries: number) {
  const serverId = fresh('s');
  world.sandbox.script({ server: serverId }, { ends: 'never' });
  await resultOf(await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 200, tries } }));
  return (await world.client.workflow.getHandle(backupServerId(serverId)).fetchHistory()).events ?? [];
}

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('waiting', { concurrency: 6 }, () => {
  test('a poll costs at most six history events', async () => {
    const timers = (await historyOf(11)).flatMap((it, index) => (it.timerFiredEventAttributes ? [index] : []));
    const costs = timers.slice(1).map((index, before) => index - (timers[before] ?? 0));
    // On a busy machine a few polls cost more events.
    const median = costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Infinity;
    assert.ok(costs.length >= 5 && median <= 6, `${costs.join(', ')} events`);
  });

  test('a run of fifty polls stays under four hundred events in its longest history', async () => {
    assert.ok((await historyOf(50)).length < 400);
  });

  test('a hint triggers a read at once and uses no try', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 1_000 });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 1_800_000, tries: 1 } });
    await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length === 1);
    await sleep(1_100);
    const operation = world.client.workflow.getHandle(backupServerId(serverId));
    await operation.signal('hint');
    const result = await run.result();
    assert.equal(result.backup?.polls, 1);
    const { events } = await operation.fetchHistory();
    assert.ok(!events?.some((it) => it.timerFiredEventAttributes), 'the interval elapsed');
  });

  test('a hint that arrives before the wait begins is kept', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 0 });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 1_800_000, tries: 1 } });
    // Sent as soon as the operation exists, which is around the trigger.
    await eventually('the operation', () =>
      world.client.workflow
        .getHandle(backupServerId(serverId))
        .signal('hint')
        .then(() => true)
        .catch(() => false),
    );
    assert.equal((await run.result()).outcome, 'completed');
  });

  test('a flood of hints causes at most one read per second and twice the tries in total', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 1_800_000, tries: 2 } });
    const operation = world.client.workflow.getHandle(backupServerId(serverId));
    await eventually('the wait', async () => (await run.status()).waiting?.kind === 'backup');
    // Not the requests: a slow answer is asked for twice.
    const polls = async () => (await run.status()).result.backup?.polls ?? 0;
    await eventually('all hinted reads', async () => (await operation.signal('hint'), await polls()) >= 4);
    for (let sent = 0; sent < 20; sent += 1) await operation.signal('hint');
    assert.equal(await polls(), 4, 'two reads per try');
    await run.cancel();
    assert.equal((await resultOf(run)).outcome, 'cancelled');
    const { events = [] } = await operation.fetchHistory();
    const begunMs = (events ?? []).flatMap((it, index) =>
      it.markerRecordedEventAttributes?.markerName === 'core_local_activity'
        ? [workflowTimeMs(events ?? [], index)]
        : [],
    );
    const gapsMs = begunMs.slice(-4).map((ms, index, all) => ms - (all[index - 1] ?? -Infinity));
    assert.ok(
      gapsMs.every((ms) => ms >= TIMING.poll.hintGapMs),
      `${gapsMs.join(', ')} ms between the reads`,
    );
  });

  test('a refused token is read again after a pause, regardless of the interval', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 500 });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 600_000, tries: 1 } });
    const backup = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]);
    const path = `/v1/backups/${backup.began?.id}`;
    world.sandbox.fault({ route: 'backup', target: backup.began?.id ?? '', answer: { kind: 'status', code: 401 } });
    await sleep(600);
    await world.client.workflow.getHandle(backupServerId(serverId)).signal('hint');
    assert.equal((await run.result()).outcome, 'completed');
    // The refused read and the next one. The interval has not elapsed.
    assert.equal(reads(world.sandbox, path).length, 2);
  });

  test('makes two early reads after a trigger if the interval is long', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { ends: 'never' });
    const run = await world.belay.start({ siteIds: [siteId], deploy: { intervalMs: 600_000, tries: 2 } });
    await eventually('the first early read', async () => (await run.status()).result.deployments[0]?.polls === 1);
    world.sandbox.finish({ site: siteId }, 'completed');
    const result = await run.result();
    assert.equal(result.deployments[0]?.evidence, 'transition');
    assert.equal(result.deployments[0]?.polls, 2);
  });

  test('reports what it waits for', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
    const run = await world.belay.start({ siteIds: [siteId], deploy: { intervalMs: 500, tries: 500 } });
    const { result, waiting } = await eventually('a try', async () => {
      const status = await run.status();
      return status.waiting?.kind === 'deployment' && status.waiting.lastStatus === 'building' ? status : null;
    });
    assert.equal(result.outcome, null);
    assert.equal(result.phase, 'deploy');
    assert.equal(result.deployments[0]?.lastStatus, 'building');
    assert.equal(result.deployments[0]?.evidence, 'transition');
    assert.ok(waiting?.kind === 'deployment' && waiting.tries === 500);
    const operation = world.client.workflow.getHandle(deploySiteId(siteId));
    const details = await operation.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.match(details.currentDetails, /\ntry \d+ of 500, last status `building`, next read at /);
    world.sandbox.finish({ site: siteId }, 'completed');
    await run.result();
  });
});

replayLater('waiting', () => world.client, 6);
