import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type DeploymentResult, type RunInput } from '../../../src/contract/run.ts';
import { siteTarget } from '../../../src/contract/target.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { queuedFor, requestsAt } from '../../support/queued.ts';
import { replayLater } from '../../support/replay.ts';
import { fresh, startTestStack, TASK_QUEUE, type TestStack } from '../../support/world.ts';
import { SIGNALS } from '../../../src/contract/names.ts';
import type { Run } from '../../../src/client/runs/run-handle.ts';

const PACE = { intervalMs: 200, tries: 300 };

let world: TestStack;
before(async () => {
  world = await startTestStack({ defaults: { backup: { durationMs: 1_500 }, deployment: { durationMs: 1_000 } } });
});

const deploy = (siteId: string, more: Partial<RunInput> = {}): Promise<Run> =>
  world.belay.start({ siteIds: [siteId], deploy: PACE, ...more });

/** Starts a run whose deployment continues until the test finishes it. */
async function holding(siteId: string): Promise<Run> {
  world.sandbox.script({ site: siteId }, { ends: 'never' }, {});
  const holder = await deploy(siteId);
  await deploymentBegun(siteId);
  return holder;
}

const backUp = (serverId: string, more: Partial<RunInput> = {}): Promise<Run> =>
  world.belay.start({ serverId, siteIds: [], backup: PACE, ...more });

/** Starts a run whose backup continues until the test finishes it. */
async function making(serverId: string): Promise<Run> {
  world.sandbox.script({ server: serverId }, { ends: 'never' }, {});
  const maker = await backUp(serverId);
  await backupBegun(serverId);
  return maker;
}

const deploymentBegun = (siteId: string) =>
  eventually('the deployment', () => began(world.sandbox, 'deployment', siteId).length > 0);
const backupBegun = (serverId: string) =>
  eventually('the backup', () => began(world.sandbox, 'backup', serverId).length > 0);

const requests = (lockId: string, count: number) => requestsAt(world.client, lockId, count);

/** When a run's deployment held the lock, by the clock of the workflow. */
function span({ deployments: [deployment] }: { deployments: DeploymentResult[] }): [string, string] {
  return [deployment?.startedAt ?? '', deployment?.endedAt ?? ''];
}

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('locks and sharing', { concurrency: 8 }, () => {
  test('runs for one site deploy one after another in the order of their start', async () => {
    const siteId = fresh('a');
    const runs: Run[] = [await holding(siteId)];
    for (let n = 1; n < 5; n += 1) {
      const run = await deploy(siteId);
      // Until the holder has the request of this run, the next run could overtake it.
      await requests(deploySiteId(siteId), n);
      runs.push(run);
    }
    world.sandbox.finish({ site: siteId }, 'completed');
    const spans = (await Promise.all(runs.map((run) => resultOf(run)))).map(span);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 5);
    for (const [index, [from]] of spans.slice(1).entries()) {
      const [, to] = spans[index] ?? [];
      assert.ok(to !== undefined && to <= from, `run ${index + 2} began before run ${index + 1} ended`);
    }
  });

  test('a waiter forwarded late by the lock holder keeps its queue position', async () => {
    const siteId = fresh('a');
    const holder = await holding(siteId);
    const first = await deploy(siteId);
    await requests(deploySiteId(siteId), 1);
    const second = await deploy(siteId);
    await requests(deploySiteId(siteId), 2);
    const { workflowId, runId } = second;
    const waiters = [{ workflowId, runId, since: new Date().toISOString() }];
    const word = { lockId: deploySiteId(siteId), waiters, backup: null };
    await world.client.workflow.getHandle(holder.workflowId).signal('lockReleased', word);
    // The lock holder receives the waiter's request again: the message was forwarded to it alone.
    await requests(deploySiteId(siteId), 3);
    const { events } = await world.client.workflow.getHandle(workflowId).fetchHistory();
    assert.ok(
      !events?.some((event) => event.workflowExecutionSignaledEventAttributes),
      'the waiter was given the lock',
    );
    world.sandbox.finish({ site: siteId }, 'completed');
    const results = await Promise.all([holder, first, second].map((run) => resultOf(run)));
    assert.deepEqual(results.map(span), results.map(span).sort());
  });

  test('two runs for one site started at the same time deploy one after the other', async () => {
    const siteId = fresh('a');
    const runs = await Promise.all([deploy(siteId), deploy(siteId)]);
    const results = await Promise.all(runs.map((run) => resultOf(run)));
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ['completed', 'completed'],
    );
    const [[, firstEnd], [secondStart]] = results.map(span).sort() as [[string, string], [string, string]];
    assert.ok(firstEnd <= secondStart);
  });

  test('a cancelled waiter is skipped and triggers nothing', async () => {
    const siteId = fresh('a');
    const holder = await holding(siteId);
    const quitter = await deploy(siteId);
    await queuedFor(quitter);
    const last = await deploy(siteId);
    await queuedFor(last);
    await quitter.cancel();
    world.sandbox.finish({ site: siteId }, 'completed');
    const [, quit, served] = await Promise.all([holder, quitter, last].map((run) => resultOf(run)));
    assert.equal(quit?.outcome, 'cancelled');
    assert.equal(quit?.deployments[0]?.outcome, 'not_started');
    assert.equal(served?.outcome, 'completed');
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 2);
  });

  test('the deployment of a terminated run keeps the lock until its verdict', async () => {
    const siteId = fresh('a');
    const doomed = await holding(siteId);
    const waiter = await deploy(siteId);
    await queuedFor(waiter);
    await world.client.workflow.getHandle(doomed.workflowId).terminate('by hand');
    const result = await resultOf(doomed);
    assert.equal(result.outcome, 'unknown');
    assert.equal(result.error?.type, 'Terminated');
    const operation = await world.client.workflow.getHandle(deploySiteId(siteId)).describe();
    assert.equal(operation.status.name, 'RUNNING');
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await resultOf(waiter)).outcome, 'completed');
  });

  test('a cancelled run forwards a lock message and still returns its result', async () => {
    const [siteId, otherId] = [fresh('a'), fresh('a')];
    world.sandbox.script({ site: siteId }, { ends: 'never' });
    world.sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'true' }, delayMs: 3_000 });
    const cancelled = await deploy(siteId);
    await deploymentBegun(siteId);
    await cancelled.cancel();
    const waiter = { workflowId: 'missing', runId: '00000000-0000-0000-0000-000000000000', since: '' };
    const word = { lockId: deploySiteId(otherId), waiters: [waiter], backup: null };
    await world.client.workflow.getHandle(cancelled.workflowId).signal(SIGNALS.lockReleased, word);
    const result = await resultOf(cancelled);
    assert.equal(result.outcome, 'cancelled');
    assert.equal(result.deployments[0]?.trigger.attempts, 1);
  });

  test('a run that does not wait ends Busy at a locked site and triggers nothing', async () => {
    const siteId = fresh('a');
    const holder = await holding(siteId);
    const result = await resultOf(await deploy(siteId, { ifBusy: 'fail' }));
    assert.equal(result.outcome, 'not_started');
    assert.equal(result.error?.type, 'Busy');
    world.sandbox.finish({ site: siteId }, 'completed');
    await resultOf(holder);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('a run waits for a lock no longer than its busyTimeoutMs', async () => {
    const siteId = fresh('a');
    const holder = await holding(siteId);
    const result = await resultOf(await deploy(siteId, { busyTimeoutMs: 500 }));
    assert.equal(result.error?.type, 'Busy');
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await resultOf(holder)).outcome, 'completed');
  });

  test('a running backup is shared by every run that needs one', async () => {
    const [serverId, ...siteIds] = [fresh('s'), fresh('a'), fresh('a')];
    const maker = await making(serverId);
    const sharers = await Promise.all(
      siteIds.map((siteId) => world.belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE })),
    );
    await Promise.all(sharers.map(queuedFor));
    world.sandbox.finish({ server: serverId }, 'completed');
    const made = await resultOf(maker);
    const shared = await Promise.all(sharers.map((run) => resultOf(run)));
    assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
    for (const result of shared) {
      assert.equal(result.outcome, 'completed');
      assert.equal(result.backup?.source, 'shared');
      assert.equal(result.backup?.backupId, made.backup?.backupId);
      assert.equal(result.backup?.startedAt, made.backup?.startedAt);
    }
  });

  test('a failed shared backup fails every run that shares it', async () => {
    const serverId = fresh('s');
    const maker = await making(serverId);
    const sharer = await backUp(serverId);
    await queuedFor(sharer);
    world.sandbox.finish({ server: serverId }, 'failed');
    const results = await Promise.all([maker, sharer].map((run) => resultOf(run)));
    assert.deepEqual(
      results.map(({ error }) => error?.type),
      ['BackupFailed', 'BackupFailed'],
    );
  });

  test('a backup continues for the runs that share it if its maker is cancelled', async () => {
    const serverId = fresh('s');
    const maker = await making(serverId);
    const sharer = await backUp(serverId);
    await queuedFor(sharer);
    await maker.cancel();
    const cancelled = await resultOf(maker);
    assert.equal(cancelled.outcome, 'cancelled');
    assert.match(cancelled.error?.message ?? '', /continues, followed by/);
    world.sandbox.finish({ server: serverId }, 'completed');
    const result = await resultOf(sharer);
    assert.equal(result.outcome, 'completed');
    assert.equal(result.backup?.source, 'shared');
    assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
  });

  test('a run that shares a backup keeps its own timeout, regardless of the maker', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const maker = await backUp(serverId, { backup: { intervalMs: 300, tries: 3 } });
    await backupBegun(serverId);
    const patient = await backUp(serverId);
    assert.equal((await resultOf(maker)).outcome, 'timed_out');
    world.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await resultOf(patient)).outcome, 'completed');
    assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
  });

  test('a completed backup that is recent enough is reused after one more read', async () => {
    const serverId = fresh('s');
    await resultOf(await backUp(serverId));
    const found = await eventually('the backup in the list', async () => {
      const result = await resultOf(await backUp(serverId, { backup: { ...PACE, maxAgeMs: 60_000 } }));
      return result.backup?.source === 'reused' ? result : null;
    });
    assert.equal(found.backup?.polls, 1);
    const made = began(world.sandbox, 'backup', serverId).map((entry) => entry.began?.id);
    assert.ok(made.includes(found.backup?.backupId ?? ''));
  });

  test('a backup that is too old is not reused', async () => {
    const serverId = fresh('s');
    await resultOf(await backUp(serverId));
    const result = await resultOf(await backUp(serverId, { backup: { ...PACE, maxAgeMs: 1_000 } }));
    assert.equal(result.backup?.source, 'created');
    assert.equal(began(world.sandbox, 'backup', serverId).length, 2);
  });

  test('a run adopts a given backup that another client made', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    world.sandbox.act({ server: serverId });
    const backupId = world.sandbox.journal.at(-1)?.began?.id;
    assert.ok(backupId);
    const run = await world.belay.start({ serverId, siteIds: [siteId], backup: { ...PACE, backupId }, deploy: PACE });
    const result = await resultOf(run);
    assert.equal(result.outcome, 'completed');
    assert.equal(result.backup?.source, 'given');
    assert.equal(began(world.sandbox, 'backup', serverId).length, 0);
  });

  test('an operation started by hand fails before any request', async () => {
    const siteId = fresh('a');
    const target = siteTarget(siteId);
    for (const workflowId of ['by-hand', deploySiteId(siteId)]) {
      const execution = world.client.workflow.execute('deploySite', {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [{ target, waiters: [], tries: 1, intervalMs: 100 }],
      });
      await assert.rejects(execution, (error) => {
        assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure);
        return error.cause.type === 'WrongWorkflowId' && error.cause.message.includes(deploySiteId(siteId));
      });
    }
    assert.equal(world.sandbox.journal.filter(({ request }) => request.includes(`/${siteId}/`)).length, 0);
  });

  test('an id that is not a valid URL segment maps to one lock', async () => {
    const [serverId, siteId] = [`${fresh('s')}/ä :%2F`, `${fresh('a')}/../x?y#z`];
    const run = await world.belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE });
    assert.equal((await resultOf(run)).outcome, 'completed');
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
    const { status } = await world.client.workflow.getHandle(backupServerId(serverId)).describe();
    assert.equal(status.name, 'COMPLETED');
  });
});

replayLater('locks', () => world.client, 6);
