import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import { WorkflowFailedError, type ScheduleDescription, type ScheduleUpdateOptions } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { BelayError } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { runInProcess } from '../../support/in-process.ts';
import { queuedFor } from '../../support/queued.ts';
import { replayLater } from '../../support/replay-later.ts';
import { definitionsOf } from '../../support/schedule-files.ts';
import * as schedules from '../../support/schedules.ts';
import { actionsOf, apply, buffered, described, fireFor, ours, PACE, settled } from '../../support/schedules.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh, temporalEnv, type TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await schedules.startStack();
});

const nightly = (more?: Parameters<typeof schedules.nightly>[1]) => schedules.nightly(world, more);
const stateOf = (id: string) => schedules.stateOf(world, id);
const backupsOf = (serverId: string) => began(world.sandbox, 'backup', serverId).length;
const begun = (serverId: string) => eventually('a backup', () => backupsOf(serverId) === 1);

const schedule = (args: string[], env = {}) => runInProcess(['schedule', ...args], { ...temporalEnv(world), ...env });

/** What `belay schedule list` prints from this schedule on. On a busy machine, Temporal may not answer for it at once. */
const listedFrom = (id: string) =>
  eventually(`${id} in the list`, async () => {
    const { code, stdout, stderr } = await schedule(['list']);
    assert.equal(code, 0, stderr);
    const from = stdout.indexOf(`${id}  `);
    return from >= 0 && !stdout.startsWith(`${id}  Temporal does not answer`, from) && stdout.slice(from);
  });

describe('schedules', { concurrency: 8 }, () => {
  test('apply restores a schedule, whatever about it was changed in Temporal', async () => {
    type Spoil = (there: ScheduleDescription) => ScheduleUpdateOptions;
    const changes: Record<string, Spoil> = {
      'another overlap': (it) => ({ ...it, policies: { ...it.policies, overlap: 'ALLOW_ALL' } }),
      'another catch-up window': (it) => ({ ...it, policies: { ...it.policies, catchupWindow: '1 day' } }),
      'another time zone': (it) => ({ ...it, spec: { ...it.spec, timezone: 'Asia/Tokyo' } }),
      'no calendar': (it) => ({ ...it, spec: { ...it.spec, calendars: [] } }),
      'an interval beside its times': (it) => ({ ...it, spec: { ...it.spec, intervals: [{ every: '1h' }] } }),
      'skipped times': (it) => ({ ...it, spec: { ...it.spec, skip: [{ hour: 2, minute: 30 }] } }),
      'an end': (it) => ({ ...it, spec: { ...it.spec, endAt: new Date() } }),
      'another input': (it) => ({ ...it, action: { ...it.action, args: [] } }),
      'an end after some firings': (it) => ({ ...it, state: { ...it.state, remainingActions: 2 } }),
      'another workflow': (it) => ({ ...it, action: { ...it.action, workflowType: 'backupOnly' } }),
    };
    const { file, handle } = nightly();
    await apply(world, file());
    const settings = async () => {
      const { spec, action, policies, state } = await described(handle);
      return { spec, action, policies, state };
    };
    const before = await settings();
    for (const [what, spoil] of Object.entries(changes)) {
      await handle.update(spoil);
      const [change] = await apply(world, file());
      assert.equal(change?.action, 'update', `not detected: ${what}`);
      assert.notDeepEqual(change.differences, [], what);
      assert.deepEqual(await settings(), before, what);
    }
    assert.deepEqual(actionsOf(await apply(world, file())), ['none']);
  });

  test("apply with prune deletes only schedules of the file's fleets that the file no longer names", async () => {
    const [mine, dropped, other] = [nightly(), nightly(), nightly()];
    const old = { ...dropped.file(), schedules: { old: dropped.file().schedules!.nightly! } };
    const oldId = `belay:${dropped.fleet}:old`;
    for (const file of [mine.file(), old, dropped.file(), other.file()]) await apply(world, file);
    const action = { type: 'startWorkflow', workflowType: 'x', taskQueue: 'x' } as const;
    const foreign = [`${dropped.fleet}:nightly`, `belay:${dropped.fleet}0:old`, `nightly:${dropped.fleet}:belay`];
    for (const scheduleId of foreign) await world.client.schedule.create({ scheduleId, action, spec: {} });
    for (const id of [mine.id, oldId, other.id]) await stateOf(id);
    assert.deepEqual(actionsOf(await apply(world, dropped.file())), ['none'], 'deleted without prune');
    const changes = await world.belay.schedules.plan(definitionsOf(dropped.file()), [dropped.fleet, mine.fleet]);
    assert.equal(changes.find(({ scheduleId }) => scheduleId === other.id)?.action, 'unmanaged');
    const said = ours(changes).map(({ scheduleId, action }) => `${action} ${scheduleId}`);
    assert.deepEqual(said.sort(), [`none ${dropped.id}`, `delete ${mine.id}`, `delete ${oldId}`].sort());
    await world.belay.schedules.apply(changes);
    for (const id of [mine.id, oldId]) await assert.rejects(world.client.schedule.getHandle(id).describe());
    for (const id of [dropped.id, other.id, ...foreign]) await described(world.client.schedule.getHandle(id));
    // Temporal's list may still contain deleted schedules, and another client may delete one first.
    await world.belay.schedules.apply(changes);
  });

  for (const [by, fire] of [
    ['at its times', ({ handle }, date) => fireFor(handle, [date])],
    ['by hand', ({ id }) => world.belay.schedules.trigger(id)],
  ] as [string, (it: ReturnType<typeof nightly>, date: string) => Promise<void>][]) {
    /** A schedule that fires again while its first run continues. */
    async function firedTwice(overlap: 'skip' | 'queue') {
      const it = nightly({ overlap });
      world.sandbox.script({ server: it.serverId }, { ends: 'never' }, { durationMs: 0 });
      await apply(world, it.file());
      await fire(it, '2025-06-01');
      await begun(it.serverId);
      await sleep(1_000); // Temporal's ids of started workflows have a resolution of one second
      const second = fire(it, '2025-06-02');
      if (by === 'by hand' && overlap === 'skip') await assert.rejects(second, { type: 'Busy' });
      else await second;
      return it;
    }

    test(`a schedule fired ${by} during its last run skips the new one and reports it`, async () => {
      const { id, handle, serverId } = await firedTwice('skip');
      // One by hand is refused before Temporal learns of it.
      if (by === 'at its times') await eventually('the count', async () => (await stateOf(id)).skipped === 1);
      assert.match((await stateOf(id)).last[0]?.workflowId ?? '', new RegExp(`^backup:${serverId}:`), 'another run');
      world.sandbox.finish({ server: serverId }, 'completed');
      assert.equal((await settled(world, handle, 1)).length, 1);
      assert.deepEqual([(await stateOf(id)).skipped, backupsOf(serverId)], [by === 'by hand' ? 0 : 1, 1]);
    });

    test(`a schedule fired ${by} during its last run starts one more after it with overlap queue`, async () => {
      const { id, handle, serverId } = await firedTwice('queue');
      await buffered(handle);
      await assert.rejects(world.belay.schedules.trigger(id), {
        type: 'Busy',
        message: new RegExp(
          `its last run, backup:${serverId}:[^ ]+, is still in progress, and another is already waiting`,
        ),
      });
      assert.equal((await described(handle)).info.numActionsTaken, 1, 'the second run did not wait');
      assert.equal(backupsOf(serverId), 1);
      world.sandbox.finish({ server: serverId }, 'completed');
      const fired = await settled(world, handle, 2);
      for (const { result } of fired) assert.deepEqual([result.outcome, result.alreadyStarted], ['completed', false]);
      assert.equal(backupsOf(serverId), 2);
    });
  }

  test('a firing that is cancelled cancels its run, and fails as that run ended', async () => {
    const { file, fleet, serverId, handle } = nightly();
    world.sandbox.script({ server: serverId }, { ends: 'never' }, { durationMs: 0 });
    await apply(world, file());
    await fireFor(handle, ['2025-06-01']);
    await begun(serverId);
    const [firing] = (await described(handle)).info.runningActions;
    assert.ok(firing?.type === 'startWorkflow');
    const fired = world.client.workflow.getHandle(firing.workflow.workflowId, firing.workflow.firstExecutionRunId);
    await fired.cancel();
    const run = world.belay.get(`backup:${serverId}:${fleet}.nightly.2025-06-01`);
    await assert.rejects(run.result(), { type: 'Cancelled' });
    const failure: unknown = await fired.result().catch((it: unknown) => it);
    assert.ok(failure instanceof WorkflowFailedError && failure.cause instanceof ApplicationFailure, String(failure));
    assert.equal(failure.cause.type, 'Cancelled');
    assert.deepEqual(failure.cause.details, [
      { workflowId: run.workflowId, alreadyStarted: false, outcome: 'cancelled' },
    ]);
    world.sandbox.finish({ server: serverId }, 'completed');
  });

  test('a failure pauses a schedule with pauseOnFailure, and the list shows the reason', async () => {
    const { file, id, fleet, serverId, handle } = nightly({ pauseOnFailure: true });
    world.sandbox.script({ server: serverId }, { durationMs: 0, ends: 'failed' });
    await apply(world, file());
    await fireFor(handle, ['2025-06-01']);
    const { note, last, next } = await eventually('the pause', async () => {
      const state = await stateOf(id);
      return state.paused && state.last[0]?.outcome === 'failed' ? state : null;
    });
    assert.equal(last[0]?.workflowId, `backup:${serverId}:${fleet}.nightly.2025-06-01`);
    assert.match(note ?? '', /failed/);
    const shown = `${id}  .* paused: .*fail(ed|ure).*\\n  next: none until \`.* schedule resume \\S+ --reason TEXT\`\\n  last: .* failed  backup:`;
    assert.match(await listedFrom(id), new RegExp(`^${shown}`));
    await world.belay.schedules.resume(id, 'the disk is empty again');
    const resumed = await stateOf(id);
    assert.deepEqual([resumed.paused, resumed.note, resumed.next.length], [false, 'the disk is empty again', 3]);
    assert.deepEqual(next, [], 'a paused schedule has a next time');
  });

  test('a pause of a paused schedule and a resume of one that is not paused say what was true', async () => {
    const { file, id } = nightly();
    await apply(world, file());
    const say = async (action: 'pause' | 'resume', reason: string) => {
      const { code, stdout, stderr } = await schedule([action, id, '--reason', reason]);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.equal(await say('resume', 'it is over'), `${id} was not paused\n`);
    assert.equal(await say('pause', 'the data centre moves'), `${id} paused\n`);
    assert.equal(
      await say('pause', 'the disk is full'),
      `${id} was paused already because "the data centre moves"; the reason is now "the disk is full"\n`,
    );
    assert.equal(await say('resume', 'it is over'), `${id} resumed\n`);
  });

  test('scheduled runs share backups with manual runs and wait for their site locks', async () => {
    const [{ file, serverId, handle, fleet }, siteId] = [nightly(), fresh('a')];
    const both = file();
    both.fleets = { [fleet]: { servers: { [serverId]: { sites: [siteId] } } } };
    both.schedules = { ...both.schedules, deploy: { start: { deploy: siteId }, cron: '30 2 * * *', deploy: PACE } };
    await apply(world, both);
    for (const target of [{ server: serverId }, { site: siteId }]) {
      world.sandbox.script(target, { ends: 'never' }, { durationMs: 300 });
    }
    const pace = { intervalMs: 200, tries: 1_000 };
    const manual = await world.belay.start({ serverId, siteIds: [], backup: pace });
    const deploying = await world.belay.start({ siteIds: [siteId], deploy: pace });
    await begun(serverId);
    await eventually('the deployment', () => began(world.sandbox, 'deployment', siteId).length === 1);
    const deploy = world.client.schedule.getHandle(`belay:${fleet}:deploy`);
    for (const it of [handle, deploy]) await fireFor(it, ['2025-06-01']);
    const scheduled = world.belay.get(`backup:${serverId}:${fleet}.nightly.2025-06-01`);
    const second = world.belay.get(`deploy:${siteId}:${fleet}.deploy.2025-06-01`);
    for (const it of [scheduled, second]) await eventually('the queue', () => queuedFor(it).catch(() => null));
    world.sandbox.finish({ server: serverId }, 'completed');
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await manual.result()).backup?.source, 'created');
    assert.equal((await scheduled.result()).backup?.source, 'shared');
    assert.equal(backupsOf(serverId), 1);
    assert.deepEqual([(await deploying.result()).outcome, (await second.result()).outcome], ['completed', 'completed']);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 2);
  });

  test('a manual trigger leaves the nightly run in place, and the list shows the newest first in local time', async () => {
    const { file, id, fleet, serverId, handle } = nightly({ timeZone: 'Asia/Tokyo' });
    await apply(world, file());
    await world.belay.schedules.trigger(id);
    await settled(world, handle, 1);
    for (const count of [2, 3]) {
      await fireFor(handle, ['2025-06-01']);
      await settled(world, handle, count);
    }
    const { last, next } = await eventually('the last firing', async () => {
      const state = await stateOf(id);
      return state.last[0]?.alreadyStarted === true && state;
    });
    const night = `backup:${serverId}:${fleet}.nightly.2025-06-01`;
    const [again, first] = last.map((it) => [it.workflowId, it.alreadyStarted, it.outcome]);
    assert.deepEqual(again, [night, true, null]);
    assert.deepEqual(first, [night, false, 'completed']);
    assert.match(
      last[2]?.workflowId ?? '',
      new RegExp(`^backup:${serverId}:${fleet}\\.nightly\\.by-hand-\\d{8}T\\d{6}Z$`),
    );
    assert.equal(backupsOf(serverId), 2);
    const shown = (await listedFrom(id)).split('\n');
    const inTokyo = (at = '') => new Date(at).toLocaleString('sv-SE', { timeZone: 'Asia/Tokyo' }).slice(0, 16);
    assert.equal(shown[0], `${id}  30 2 * * * (Asia/Tokyo)`);
    assert.equal(shown[1], `  next: ${next.map((at) => inTokyo(at)).join(', ')}`);
    assert.match(shown[1] ?? '', /^ {2}next: (\d{4}-\d\d-\d\d 02:30(, |$)){3}/);
    assert.equal(shown[2], `  last: ${inTokyo(last[0]?.firedAt)}  nothing to do: already started as ${night}`);
    assert.equal(shown[3], `  last: ${inTokyo(last[1]?.firedAt)}  completed  ${night}`);
  });

  test('the command line manages a schedule from a dry run to its deletion', async () => {
    const { file, id, handle } = nightly();
    const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
    writeFileSync(BELAY_CONFIG, JSON.stringify(file()));
    const dry = await schedule(['apply', '--dry-run'], { BELAY_CONFIG });
    assert.match(dry.stdout, /clocks in Europe\/Berlin skip 02:30, so it starts at 03:00 instead\n1 to create, 0/);
    await assert.rejects(handle.describe());
    const applied = await schedule(['apply'], { BELAY_CONFIG });
    assert.match(applied.stdout, new RegExp(`^\\+ ${id}: create\n[^]*1 created, 0 updated, 0 deleted`));
    const again = await schedule(['apply', '--prune'], { BELAY_CONFIG });
    assert.match(again.stdout, /\n0 created, 0 updated, 0 deleted, 1 up to date/);
    assert.equal((await schedule(['pause', id])).code, 2);
    assert.equal((await schedule(['pause', id, '--reason', 'a move'])).stdout, `${id} paused\n`);
    // Temporal's list shows a new schedule a moment later.
    const line = `${id}  30 2 * * * (Europe/Berlin)  paused: a move\n`;
    await eventually('its line in the list', async () => (await schedule(['list'])).stdout.includes(line));
    assert.equal((await schedule(['delete', id])).code, 0);
    for (const act of ['delete', 'trigger'] as const) {
      await assert.rejects(world.belay.schedules[act](id), (it: BelayError) => it.type === 'NotFound');
    }
  });
});

replayLater('schedules', () => world.client, 20);
