/** Runs against real servers. Their rules are in test/sim/rules/runs/runs.test.ts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Connection } from '@temporalio/client';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { connect } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayLater } from '../../support/replay-later.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, fresh, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 20 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

test('a run can start as soon as its worker reports that it polls', async () => {
  const taskQueue = fresh('queue');
  const worker = await addWorker(world, taskQueue, world.sandbox.url);
  const belay = await connect({ ...world, connection: world.client.connection as Connection, taskQueue });
  await (await belay.start({ siteIds: [fresh('a')], deploy: PACE })).result();
  await worker.stop();
});

test('a run and its operation have their search attributes from the start, and set only what changes', async () => {
  const siteId = fresh('a');
  const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
  await run.result();
  assert.deepEqual(await attributesOf(run.workflowId), {
    start: { BelaySite: [siteId] },
    later: [['BelayPhase'], ['BelayOutcome', 'BelayPhase']],
  });
  const { start, later } = await attributesOf(deploySiteId(siteId));
  assert.deepEqual(start, { BelayPhase: ['baseline'] });
  assert.deepEqual(later, [['BelayPhase'], ['BelayPhase', 'BelayTrigger'], ['BelayOutcome', 'BelayPhase']]);
});

/** What an execution starts with, and the names of what it sets each time. */
async function attributesOf(workflowId: string) {
  const { events } = await world.client.workflow.getHandle(workflowId).fetchHistory();
  const start = events?.[0]?.workflowExecutionStartedEventAttributes?.searchAttributes;
  const fields = Object.entries(start?.indexedFields ?? {});
  const upserts = (events ?? []).flatMap((it) => it.upsertWorkflowSearchAttributesEventAttributes ?? []);
  return {
    start: Object.fromEntries(fields.map(([name, value]) => [name, [payloads.fromPayload(value)].flat()])),
    later: upserts.map(({ searchAttributes }) => Object.keys(searchAttributes?.indexedFields ?? {}).sort()),
  };
}

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('runs', { concurrency: 8 }, () => {
  test('backs up, waits, deploys, waits, and returns the complete result', async () => {
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
      supersededBy: null,
      commit: null,
      held: [],
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
    for (const workflowId of [backupServerId(serverId), deploySiteId(siteId)]) {
      const query = `WorkflowId = '${workflowId}' AND BelayTrigger = 'accepted'`;
      // Temporal updates its lists a moment later.
      await eventually(query, async () => (await world.client.workflow.count(query)).count === 1);
    }
  });

  // An activity fails, which the simulator reports as an error.
  test('deploysUntil in an unknown time zone ends not started', async () => {
    const siteId = fresh('a');
    const deploysUntil = { time: '06:00', timeZone: 'Europe/Nowhere' };
    const { outcome, error } = await resultOf(
      await world.belay.start({ siteIds: [siteId], deploy: PACE, deploysUntil }),
    );
    assert.deepEqual([outcome, error?.type], ['not_started', 'Usage']);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  });

  test('a run cancelled with an existing backup and nothing deployed ends cancelled', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const made = await (await world.belay.start({ serverId, siteIds: [], backup: PACE })).result();
    const backupId = made.backup?.backupId ?? '';
    // The run is cancelled while it rereads the old backup.
    world.sandbox.fault({ route: 'backup', target: backupId, times: 99, answer: { kind: 'none' } });
    const before = reads(world.sandbox, `/v1/backups/${backupId}`).length;
    const run = await world.belay.start({ serverId, siteIds: [siteId], backup: { ...PACE, maxAgeMs: 600_000 } });
    await eventually('the read', () => reads(world.sandbox, `/v1/backups/${backupId}`).length > before);
    await run.cancel();
    const result = await resultOf(run);
    assert.equal(result.outcome, 'cancelled');
    assert.equal(result.deployments[0]?.outcome, 'not_started');
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 0);
  });

  test('accepts the maximum number of sites although their names exceed the limit of Temporal’s index', async () => {
    const siteIds = Array.from({ length: 1_000 }, (_, n) => `${fresh('a')}-${'x'.repeat(30)}-${n}`);
    world.sandbox.script({ site: siteIds[0] ?? '' }, { durationMs: 0, ends: 'failed' });
    const result = await resultOf(await world.belay.start({ siteIds, deploy: PACE }));
    assert.equal(result.error?.type, 'DeploymentFailed');
    assert.equal(result.deployments.length, 1_000);
  });
});

// With those of the suites that share its stack.
replayLater('runs', () => world.client, 108);
