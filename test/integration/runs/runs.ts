import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Connection } from '@temporalio/client';
import { connect } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayAll } from '../../support/replay.ts';
import { addWorker, fresh, startWorld, type World } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 20 };
const QUICK = { durationMs: 500 };

let world: World;
before(async () => {
  world = await startWorld({ defaults: { backup: QUICK, deployment: QUICK } });
});

test('a run can be started as soon as its worker says that it is there', async () => {
  for (let index = 0; index < 5; index += 1) {
    const taskQueue = fresh('queue');
    await addWorker(world, taskQueue, world.sandbox.url);
    const belay = await connect({ connection: world.client.connection as Connection, taskQueue });
    await (await belay.start({ siteIds: [fresh('a')], deploy: PACE })).result();
  }
});

// Each test has sites and servers of its own, and most of them wait: they run at once.
describe('runs', { concurrency: 8 }, () => {
  test('backs up, waits, deploys, waits, and gives the whole result', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const run = await world.belay.start({
      serverId,
      siteIds: [siteId],
      backup: PACE,
      deploy: PACE,
      meta: { job: '7' },
    });
    const result = await run.result();

    assert.equal(run.workflowId, `backup-then-deploy:${serverId}:${run.workflowId.split(':')[2]}`);
    const { startedAt, endedAt, backup, deployments, links, ...rest } = result;
    assert.deepEqual(rest, {
      schemaVersion: 1,
      workflowId: run.workflowId,
      runId: run.runId,
      service: new URL(world.sandbox.url).origin,
      outcome: 'completed',
      phase: 'done',
      error: null,
      meta: { job: '7' },
    });
    assert.ok(startedAt && endedAt && startedAt < endedAt);
    assert.ok(links.ui?.includes(encodeURIComponent(run.workflowId)));
    assert.equal(backup?.outcome, 'completed');
    assert.equal(backup?.source, 'created');
    assert.deepEqual(backup?.trigger, { attempts: 1, ambiguous: false, reconciledBy: null });
    assert.equal(deployments[0]?.outcome, 'completed');
    assert.ok(['transition', 'changed'].includes(deployments[0]?.evidence ?? ''));
    assert.deepEqual(began(world.sandbox, 'backup', serverId).length, 1);
    assert.deepEqual(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('deploys nothing before the backup was read as completed', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    await (await world.belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE })).result();
    const { journal } = world.sandbox;
    const backupId = began(world.sandbox, 'backup', serverId)[0]?.began?.id;
    const completed = journal.findIndex(
      ({ request, said }) => request === `GET /v1/backups/${backupId}` && said === 'completed',
    );
    const deployed = journal.findIndex(({ request }) => request === `POST /v1/sites/${siteId}/deploy`);
    assert.ok(completed >= 0 && completed < deployed);
  });

  test('deploys nothing when the backup fails, and says why', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    world.sandbox.script({ server: serverId }, { durationMs: 300, ends: 'failed' });
    const run = await world.belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE });
    const result = await resultOf(run);
    assert.equal(result.outcome, 'failed');
    assert.equal(result.error?.type, 'BackupFailed');
    assert.equal(result.deployments[0]?.outcome, 'not_started');
    assert.equal(result.deployments[0]?.polls, 0);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 0);
  });

  test('deploys nothing when the backup is not complete after exactly the tries asked for', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    world.sandbox.script({ server: serverId }, { ends: 'never', words: ['copying'] });
    const run = await world.belay.start({ serverId, siteIds: [siteId], backup: { intervalMs: 200, tries: 3 } });
    const result = await resultOf(run);
    assert.equal(result.outcome, 'timed_out');
    assert.equal(result.error?.type, 'BackupTimedOut');
    assert.equal(result.backup?.lastStatus, 'copying');
    assert.equal(reads(world.sandbox, `/v1/backups/${result.backup?.backupId}`).length, 3);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 0);
  });

  test('fails with the verdict of a deployment that failed', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { durationMs: 400, ends: 'failed' });
    const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
    const result = await resultOf(run);
    assert.equal(result.outcome, 'failed');
    assert.equal(result.error?.type, 'DeploymentFailed');
    assert.equal(result.backup, null);
  });

  test('a run cancelled when its backup was there already, and nothing deployed, is not completed', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const made = await (await world.belay.start({ serverId, siteIds: [], backup: PACE })).result();
    const backupId = made.backup?.backupId ?? '';
    // Slow enough to be cancelled while the old backup is read once more.
    world.sandbox.fault({ route: 'backup', target: backupId, times: 2, answer: { kind: 'true' }, delayMs: 3_000 });
    const before = reads(world.sandbox, `/v1/backups/${backupId}`).length;
    const run = await world.belay.start({ serverId, siteIds: [siteId], backup: { ...PACE, maxAgeMs: 600_000 } });
    await eventually('the read', () => reads(world.sandbox, `/v1/backups/${backupId}`).length > before);
    await run.cancel();
    const result = await resultOf(run);
    assert.equal(result.outcome, 'cancelled');
    assert.equal(result.deployments[0]?.outcome, 'not_started');
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 0);
  });

  test('stops at the first site that is not completed, and leaves the rest not started', async () => {
    const [first, second] = [fresh('a'), fresh('a')];
    world.sandbox.script({ site: first }, { durationMs: 300, ends: 'failed' });
    const result = await resultOf(await world.belay.start({ siteIds: [first, second], deploy: PACE }));
    assert.deepEqual(
      result.deployments.map(({ outcome }) => outcome),
      ['failed', 'not_started'],
    );
    assert.equal(began(world.sandbox, 'deployment', second).length, 0);
  });

  test('has as many sites as it may, though their names fill more than Temporal’s index takes', async () => {
    const siteIds = Array.from({ length: 1_000 }, (_, n) => `${fresh('a')}-${'x'.repeat(30)}-${n}`);
    world.sandbox.script({ site: siteIds[0] ?? '' }, { durationMs: 0, ends: 'failed' });
    const result = await resultOf(await world.belay.start({ siteIds, deploy: PACE }));
    assert.equal(result.error?.type, 'DeploymentFailed');
    assert.equal(result.deployments.length, 1_000);
  });

  test('keeps going over a site that failed when told to', async () => {
    const [first, second] = [fresh('a'), fresh('a')];
    world.sandbox.script({ site: first }, { durationMs: 300, ends: 'failed' });
    const run = await world.belay.start({ siteIds: [first, second], deploy: PACE, keepGoing: true });
    const result = await resultOf(run);
    assert.deepEqual(
      result.deployments.map(({ outcome }) => outcome),
      ['failed', 'completed'],
    );
    assert.equal(result.outcome, 'failed');
  });
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 5);
});
