/** A rollout and a schedule on the real server. Their rules are in test/sim/rules/rollouts and test/sim/parts. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { rolloutId } from '../../../../src/contract/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { began } from '../../../support/journal.ts';
import { replayLater } from '../../../support/replay-later.ts';
import { endOf, rolloutOf, servers } from '../../../support/rollouts.ts';
import { resetToBeginning } from '../../../support/reset.ts';
import { definitionsOf, type File } from '../../../support/schedule-files.ts';
import * as schedules from '../../../support/schedules.ts';
import { fresh, type TestStack } from '../../../support/world.ts';

const { actionsOf, apply, described, fireFor, nightly, ours, PACE, settled, startStack } = schedules;

let world: TestStack;
before(async () => {
  world = await startStack();
});

const deployments = (siteId: string) => began(world.sandbox, 'deployment', siteId).length;
const backups = (serverId: string) => began(world.sandbox, 'backup', serverId).length;

describe('a rollout', { concurrency: 2 }, () => {
  test('makes one backup of each server and deploys its sites, wave by wave, with limited concurrency', async () => {
    const [canary, ...rest] = servers(3);
    const waves = [
      { name: 'canary', targets: [canary] },
      { name: 'rest', targets: rest },
    ];
    const result = await endOf(await world.belay.rollouts.start(rolloutOf([], { waves, maxAtOnce: 1 })));
    assert.equal(result.outcome, 'completed', JSON.stringify(result.error));
    assert.deepEqual([result.servers.completed, result.deployments.completed], [3, 3]);
    for (const { serverId, siteIds } of [canary, ...rest]) {
      assert.equal(backups(serverId), 1);
      assert.deepEqual(siteIds.map(deployments), [1]);
    }
    const spans = result.targets.map(({ startedAt, endedAt }) => [startedAt ?? '', endedAt ?? '']).sort();
    for (const [index, [from = '']] of spans.slice(1).entries())
      assert.ok(from >= spans[index]![1]!, 'a server started before the one before it ended');
  });

  test('pauses at a failure, and goes on when a person resumes it', async () => {
    const [first, second] = servers(2) as [ReturnType<typeof servers>[0], ReturnType<typeof servers>[0]];
    world.sandbox.script({ server: first.serverId }, { durationMs: 0, ends: 'failed' });
    const waves = [
      { name: 'canary', targets: [first] },
      { name: 'rest', targets: [second] },
    ];
    const rollout = await world.belay.rollouts.start(rolloutOf([], { name: 'paused', waves, onFailures: 'pause' }));
    await eventually('the pause', async () => (await rollout.status()).result.phase === 'paused');
    assert.equal(backups(second.serverId), 0);
    await rollout.resume({ by: 'anne', reason: 'the disk is empty again' });
    const result = await endOf(rollout);
    assert.equal(result.workflowId?.startsWith(rolloutId('paused', '').slice(0, -1)), true);
    assert.deepEqual([result.outcome, result.servers.failed, result.servers.completed], ['failed', 1, 1]);
  });

  test('starts no server again when it is reset', async () => {
    const [target] = servers(1);
    const rollout = await world.belay.rollouts.start(rolloutOf([target]));
    await endOf(rollout);
    await resetToBeginning(world.client, rollout.workflowId);
    const result = await endOf(world.belay.rollouts.get(rollout.workflowId));
    assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'OutcomeUnknown']);
    assert.match(result.error?.message ?? '', /was already started, by a reset rollout or by hand/);
    // The result of its run is still found.
    await assert.rejects(world.belay.rollouts.retry(rollout.workflowId), /there is nothing to retry/);
    assert.deepEqual([backups(target.serverId), deployments(target.siteIds[0] ?? '')], [1, 1]);
  });
});

describe('schedules', { concurrency: 2 }, () => {
  test('apply creates every kind of schedule, and a second apply changes nothing', async () => {
    const [fleet, other, server, site, rollout] = [fresh('fleet'), fresh('fleet'), fresh('s'), fresh('a'), fresh('r')];
    const file: File = {
      fleets: {
        [fleet]: { servers: { [server]: { sites: [fresh('a')] }, [fresh('s')]: { sites: [site] } } },
        [other]: { servers: { [fresh('s')]: { sites: [fresh('a')] }, [fresh('s')]: {} } },
      },
      rollouts: { [rollout]: { fleet: other, maxAtOnce: 2, backup: PACE, deploy: PACE } },
      schedules: {
        'a-backup': { start: { backup: server }, cron: '30 2 * * *', timeZone: 'Europe/Berlin', backup: PACE },
        // A time that does not come during the test: in the first hour of a leap day.
        'a-deploy': { start: { deploy: site }, cron: '0 0 29 2 *', deploy: PACE, keepGoing: true },
        'a-rollout': { start: { rollout }, cron: '15,45 2 1 * mon', timeZone: 'Australia/Lord_Howe' },
        'a-run': {
          ...{ start: { run: server }, backup: PACE, deploy: PACE, timeZone: 'America/New_York', ifBusy: 'wait' },
          calendar: { hour: [2, 14], minute: 30, dayOfWeek: ['sunday', 'monday'], month: ['march', 'november'] },
          ...{ jitter: '5m', overlap: 'queue', catchUp: '10m', pauseOnFailure: true },
        },
      },
    };
    assert.deepEqual(actionsOf(await apply(world, file)), ['create', 'create', 'create', 'create']);
    for (const { action, differences } of await apply(world, file))
      assert.deepEqual([action, differences], ['none', []]);
    const usual = { overlap: 'SKIP', catchupWindow: 3_600_000, pauseOnFailure: false };
    const theirs = { overlap: 'BUFFER_ONE', catchupWindow: 600_000, pauseOnFailure: true };
    const kinds = [
      [`belay:${fleet}:a-backup`, usual, `backup:${server}:${fleet}.a-backup.by-hand-`],
      [`belay:${fleet}:a-deploy`, usual, `deploy:${site}:${fleet}.a-deploy.`],
      [`belay:${other}:a-rollout`, usual, `rollout:${rollout}:${other}.a-rollout.by-hand-`],
      [`belay:${fleet}:a-run`, theirs, `backup-then-deploy:${server}:${fleet}.a-run.by-hand-`],
    ] as const;
    for (const [id] of kinds) await world.belay.schedules.trigger(id);
    for (const [id, policies, prefix] of kinds) {
      const handle = world.client.schedule.getHandle(id);
      assert.deepEqual((await described(handle)).policies, policies);
      const [fired] = await settled(world, handle, 1);
      assert.equal(fired?.result.outcome, 'completed');
      assert.ok(fired.result.workflowId.startsWith(prefix), fired.result.workflowId);
    }
  });

  test('a schedule that fires starts one run, whose id has the nominal date', async () => {
    const { file, fleet, serverId, handle } = nightly(world);
    await apply(world, file());
    await fireFor(handle, ['2025-06-01']);
    const [fired] = await settled(world, handle, 1);
    assert.deepEqual(
      [fired?.result.outcome, fired?.result.workflowId],
      ['completed', `backup:${serverId}:${fleet}.nightly.2025-06-01`],
    );
    assert.equal(backups(serverId), 1);
  });

  test('apply shows and makes a change of the file and keeps a paused schedule paused', async () => {
    const { file, handle, id } = nightly(world);
    await apply(world, file());
    await world.belay.schedules.pause(id, 'the data centre moves');
    const changed = definitionsOf(file({ cron: '45 2 * * *', overlap: 'queue', catchUp: '2h', pauseOnFailure: true }));
    const plan = async () => ours(await world.belay.schedules.plan(changed, []));
    const [change] = await plan();
    assert.equal(change?.action, 'update');
    const lines = ['overlap: "skip" → "queue"', 'catchUpMs: 3600000 → 7200000', 'pauseOnFailure: false → true'];
    for (const line of ['input.when: "30 2 * * *" → "45 2 * * *"', ...lines]) {
      assert.ok(change.differences.includes(line), `${line} is not in ${change.differences.join('\n')}`);
    }
    assert.deepEqual(await plan(), [change], 'the plan changed the schedule');
    await world.belay.schedules.apply(await plan());
    assert.deepEqual(actionsOf(await plan()), ['none']);
    const { state, policies } = await described(handle);
    assert.deepEqual([state.paused, state.note, policies.overlap], [true, 'the data centre moves', 'BUFFER_ONE']);
  });

  test('a trigger during the last run is refused with overlap skip, and nothing more is backed up', async () => {
    const { file, id, serverId, handle } = nightly(world, { overlap: 'skip' });
    world.sandbox.script({ server: serverId }, { ends: 'never' }, { durationMs: 0 });
    await apply(world, file());
    await world.belay.schedules.trigger(id);
    await eventually('a backup', () => backups(serverId) === 1);
    await assert.rejects(world.belay.schedules.trigger(id), {
      type: 'Busy',
      message: /its last run.* is still in progress/,
    });
    world.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await settled(world, handle, 1)).length, 1);
    assert.equal(backups(serverId), 1);
  });
});

replayLater('rollouts and schedules', () => world.client, 15);
