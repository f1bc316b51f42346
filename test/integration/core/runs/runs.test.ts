/** A run from its input to its result. Its rules are in test/sim/rules. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { POOLED_WAIT_ACTIVITY, QUERIES, SIGNALS } from '../../../../src/contract/names.ts';
import type { OperationProgress } from '../../../../src/contract/operation.ts';
import { backupServerId, deploySiteId } from '../../../../src/contract/ids.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import { status } from '../../../support/fault-answers.ts';
import { eventually } from '../../../support/eventually.ts';
import { began, posts, reads } from '../../../support/journal.ts';
import { resultOf } from '../../../support/outcome.ts';
import { assertEnd, FOUND, REFUSED, type Expected, type Post } from '../../../support/post-ends.ts';
import { relayTo } from '../../../support/relay.ts';
import { replayLater } from '../../../support/replay-later.ts';
import { sharedStack } from '../../../support/shared-stack.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { allHistories, assertNowhere } from '../../../support/token.ts';
import { workerLog } from '../../../support/runtime.ts';
import { addWorker, belayOn, fresh, TOKEN, type TestStack } from '../../../support/world.ts';

const PACE = { intervalMs: 200, tries: 1_000 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

const latest = (siteId: string) => `/v1/sites/${siteId}/deployments/latest`;

/** A site whose deployment continues until the test finishes it. */
function siteThatBuilds(): string {
  const siteId = fresh('a');
  world.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
  return siteId;
}

const building = (siteId: string) =>
  eventually('a read in progress', () => reads(world.sandbox, latest(siteId)).at(-1)?.said === 'building');

/** Sends a site's POST into this fault. Its last deployment failed, so a completed one leaves a lasting trace. */
async function deployInto(fault: Post, expected: Expected): Promise<void> {
  const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
  world.sandbox.fault({ ...fault, route: 'deploy', target: siteId } satisfies Fault);
  const result = await resultOf(await world.belay.start({ siteIds: [siteId], deploy: PACE }));
  assertEnd(result, result.deployments[0]!, expected, {
    effects: began(world.sandbox, 'deployment', siteId).length,
    sent: posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length,
  });
}

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
    const [serverId, siteId] = [fresh('s'), siteThatBuilds()];
    const input = { serverId, siteIds: [siteId], backup: PACE, deploy: PACE, meta: { job: '7' } };
    const run = await world.belay.start(input);
    await building(siteId);
    world.sandbox.finish({ site: siteId }, 'completed');
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
      commitSeen: null,
      attached: false,
      held: [],
      meta: { job: '7' },
    });
    assert.ok(startedAt && endedAt && startedAt < endedAt);
    assert.ok(links.ui?.includes(encodeURIComponent(run.workflowId)));
    assert.equal(backup?.outcome, 'completed');
    assert.equal(backup?.source, 'created');
    assert.deepEqual(backup?.trigger, { attempts: 1, ambiguous: false, reconciledBy: null });
    assert.deepEqual([deployments[0]?.outcome, deployments[0]?.evidence], ['completed', 'transition']);
    assert.deepEqual(began(world.sandbox, 'backup', serverId).length, 1);
    assert.deepEqual(began(world.sandbox, 'deployment', siteId).length, 1);
    for (const workflowId of [backupServerId(serverId), deploySiteId(siteId)]) {
      const query = `WorkflowId = '${workflowId}' AND BelayTrigger = 'accepted'`;
      // Temporal updates its lists a moment later.
      await eventually(query, async () => (await world.client.workflow.count(query)).count === 1);
    }
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

  test('a deployment that stays in progress times out after exactly its tries, with the last status', async () => {
    const siteId = siteAfter(world.sandbox, COMPLETED, { ends: 'never', words: ['cancelled'] });
    const run = await world.belay.start({ siteIds: [siteId], deploy: { ...PACE, tries: 3 } });
    const { outcome, error, deployments } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['timed_out', 'DeploymentTimedOut']);
    assert.match(error?.message ?? '', /after 3 tries, last status "cancelled"/);
    // The baseline and the tries.
    assert.ok((deployments[0]?.polls ?? 0) >= 1 + 3);
  });

  test('a run cancelled with an existing backup and nothing requested ends not_started', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const made = await (await world.belay.start({ serverId, siteIds: [], backup: PACE })).result();
    const backupId = made.backup?.backupId ?? '';
    // Temporal updates its lists a moment later, and a run that does not find the backup makes one.
    const listed = `WorkflowId = '${backupServerId(serverId)}' AND ExecutionStatus = 'Completed'`;
    await eventually(listed, async () => (await world.client.workflow.count(listed)).count === 1);
    // The run is cancelled while it rereads the old backup.
    world.sandbox.fault({ route: 'backup', target: backupId, times: 9_999, answer: { kind: 'status', code: 429 } });
    const before = reads(world.sandbox, `/v1/backups/${backupId}`).length;
    const run = await world.belay.start({ serverId, siteIds: [siteId], backup: { ...PACE, maxAgeMs: 6_000_000 } });
    await eventually('the read', () => reads(world.sandbox, `/v1/backups/${backupId}`).length > before);
    await run.cancel();
    const result = await resultOf(run);
    assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Cancelled']);
    assert.equal(result.deployments[0]?.outcome, 'not_started');
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 0);
  });

  test('a deployment POST whose connection is reset is found by its trace and not repeated if it took effect', () =>
    deployInto({ answer: { kind: 'reset' }, effect: true }, FOUND));

  test('a deployment POST answered 422 ends not started and is not repeated', () => deployInto(status(422), REFUSED));

  test('a flood of queries and hints neither fails nor delays a run', async () => {
    const [queue, way] = [fresh('queue'), await relayTo(world.sandbox.url)];
    await addWorker(world, queue, way.url);
    const belay = await belayOn(world, queue);
    const siteId = siteThatBuilds();
    const run = await belay.start({ siteIds: [siteId], deploy: PACE });
    await building(siteId);
    way.hold();
    await eventually('a read that hangs', () => way.held > 0);
    const lock = world.client.workflow.getHandle(deploySiteId(siteId));
    const flood = Array.from({ length: 50 }, async () => {
      await lock.signal(SIGNALS.hint);
      const [{ result }] = await Promise.all([lock.query<OperationProgress>(QUERIES.progress), run.status()]);
      return result.lastStatus;
    });
    assert.deepEqual(new Set(await Promise.all(flood)), new Set(['building']));
    assert.equal(way.held, 1);
    world.sandbox.finish({ site: siteId }, 'completed');
    await way.open();
    const { outcome, deployments } = await run.result();
    assert.deepEqual([outcome, deployments[0]?.evidence], ['completed', 'transition']);
  });

  test('a pooled wait costs one activity, and its result counts every poll', async () => {
    const siteId = siteThatBuilds();
    const run = await world.belay.start({ waits: 'pooled', siteIds: [siteId], deploy: PACE });
    // The site was never deployed before, so the reads before the request were not answered.
    const answered = () => reads(world.sandbox, latest(siteId)).filter((it) => it.answered === 200).length;
    await eventually('many reads', () => answered() >= 15);
    world.sandbox.finish({ site: siteId }, 'completed');
    const { outcome, deployments } = await run.result();
    assert.deepEqual([outcome, deployments[0]?.evidence], ['completed', 'transition']);
    assert.equal(deployments[0]?.polls, answered());
    const { events } = await world.client.workflow.getHandle(deploySiteId(siteId)).fetchHistory();
    const pools = events?.filter(
      (it) => it.activityTaskScheduledEventAttributes?.activityType?.name === POOLED_WAIT_ACTIVITY,
    );
    assert.equal(pools?.length, 1);
  });
});

test('the token is in no history, log or error of these tests', async () => {
  const texts = { ...(await allHistories(world.client, 'DeploymentTimedOut')), 'worker log': workerLog() };
  assertNowhere(TOKEN, texts, 'DeploymentTimedOut');
});

// With those of the suites that share its stack.
replayLater('runs', () => world.client, 30);
