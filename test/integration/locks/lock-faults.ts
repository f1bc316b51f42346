import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { TIMING } from '../../../src/contract/timing.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import type { Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import type { ScriptPart } from '../../../src/sandbox/hosting/script.ts';
import { SIGNALS } from '../../../src/contract/names.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { requestsAt } from '../../support/queued.ts';
import { resetToBeginning } from '../../support/reset.ts';
import { fresh, startTestStack, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 300 };

let world: TestStack;
before(async () => {
  world = await startTestStack({ defaults: { backup: { durationMs: 1_000 }, deployment: { durationMs: 1_000 } } });
});

const deploy = (siteId: string): Promise<Run> => world.belay.start({ siteIds: [siteId], deploy: PACE });
const backUp = (serverId: string): Promise<Run> => world.belay.start({ serverId, siteIds: [], backup: PACE });

/** Starts a run that holds the lock until `finish`, and runs that wait for it. @param next the script of the later operations */
async function queue(kind: 'backup' | 'deployment', waiters: number, next: ScriptPart = {}) {
  const start = kind === 'backup' ? backUp : deploy;
  const id = fresh(kind === 'backup' ? 's' : 'a');
  const target = kind === 'backup' ? { server: id } : { site: id };
  world.sandbox.script(target, { ends: 'never' }, next);
  const holder = await start(id);
  await eventually(`the ${kind}`, () => began(world.sandbox, kind, id).length === 1);
  const waiting: Run[] = [];
  for (let n = 0; n < waiters; n += 1) {
    waiting.push(await start(id));
    await requestsAt(world.client, kind === 'backup' ? backupServerId(id) : deploySiteId(id), n + 1);
  }
  const finish = () => world.sandbox.finish(target, 'completed');
  return { id, holder, waiting, finish, begun: () => began(world.sandbox, kind, id).length };
}

const handleOf = ({ workflowId }: Run) => world.client.workflow.getHandle(workflowId);
const outcomes = async (runs: Run[]) => (await Promise.all(runs.map((run) => resultOf(run)))).map((it) => it.outcome);

/** The time-outs of a run's waits. */
async function waitsMs(run: Run): Promise<number[]> {
  const { events } = await handleOf(run).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const timeout = event.timerStartedEventAttributes?.startToFireTimeout;
    return timeout ? [tsToMs(timeout)] : [];
  });
}

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('locks under faults', { concurrency: 8 }, () => {
  test('a terminated waiter is skipped', async () => {
    const { holder, waiting, begun, finish } = await queue('deployment', 3);
    const [doomed, ...others] = waiting;
    assert.ok(doomed);
    await handleOf(doomed).terminate('by hand');
    finish();
    assert.deepEqual(await outcomes([holder, ...others]), ['completed', 'completed', 'completed']);
    assert.equal(begun(), 3);
  });

  test('waiters detect on their own that a terminated holder released its lock', async () => {
    const { id, holder, waiting, finish } = await queue('deployment', 1);
    await world.client.workflow.getHandle(deploySiteId(id)).terminate('by hand');
    finish();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['unknown', 'completed']);
  });

  test('a waiter that finds the lock free looks again before it overtakes the first in the queue', async () => {
    const { id, holder, waiting, finish } = await queue('deployment', 1);
    const lockId = deploySiteId(id);
    // No worker serves its task queue, so it receives the lock and does not acquire it.
    const stalled = await world.client.workflow.start('deploy', {
      ...{ workflowId: fresh('stalled'), taskQueue: fresh('queue'), args: [{}] },
    });
    const first = {
      workflowId: stalled.workflowId,
      runId: stalled.firstExecutionRunId,
      since: new Date(0).toISOString(),
    };
    await world.client.workflow.getHandle(lockId).signal(SIGNALS.lockRequested, { waiters: [first] });
    await requestsAt(world.client, lockId, 2);
    finish();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['completed', 'completed']);
    await stalled.terminate();
    const [waiter] = waiting;
    assert.ok(waiter);
    assert.ok((await waitsMs(waiter)).includes(TIMING.lock.handOverMs));
  });

  test('a signal with invalid waiters holds up neither the holder of a lock nor the runs that wait for it', async () => {
    const { id, holder, waiting, begun, finish } = await queue('deployment', 2);
    const lockId = deploySiteId(id);
    const forged = [
      { workflowId: 'x', runId: 'nonsense', since: '' },
      { workflowId: '', runId: holder.runId, since: '' },
      { workflowId: 'x'.repeat(2_000), runId: holder.runId, since: '' },
    ];
    await world.client.workflow.getHandle(lockId).signal(SIGNALS.lockRequested, { waiters: forged });
    for (const { workflowId } of waiting) {
      const handle = world.client.workflow.getHandle(workflowId);
      // Not for the lock they wait for: it is forwarded at once.
      await handle.signal(SIGNALS.lockReleased, { lockId: 'other', waiters: forged, backup: null });
    }
    finish();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['completed', 'completed', 'completed']);
    assert.equal(begun(), 3);
  });

  test('a run asks the holder of a lock once, however long it waits', async () => {
    const { id, holder, waiting, finish } = await queue('deployment', 5);
    const eventsOf = async (workflowId: string) =>
      (await world.client.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
    for (const { workflowId } of waiting) {
      await eventually('three more looks at the holder', async () => {
        const events = await eventsOf(workflowId);
        return events.filter((it) => it.timerFiredEventAttributes).length >= 3;
      });
    }
    const signals = (await eventsOf(deploySiteId(id))).filter((it) => it.workflowExecutionSignaledEventAttributes);
    finish();
    await outcomes([holder, ...waiting]);
    assert.equal(signals.length, waiting.length);
  });

  test('a cancelled holder passes its lock to the next waiter', async () => {
    const { holder, waiting, begun, finish } = await queue('deployment', 1);
    await holder.cancel();
    await resultOf(holder);
    finish();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['cancelled', 'completed']);
    assert.equal(begun(), 2);
  });

  test('a reset holder sends nothing again, and its waiters continue', async () => {
    const { id, waiting, begun, finish } = await queue('deployment', 2);
    await resetToBeginning(world.client, deploySiteId(id));
    finish();
    assert.deepEqual(await outcomes(waiting), ['completed', 'completed']);
    assert.equal(begun(), 3);
  });

  test('a reset waiter ends unknown and triggers nothing', async () => {
    const { holder, waiting, begun, finish } = await queue('deployment', 1);
    const [waiter] = waiting;
    assert.ok(waiter);
    const runId = await resetToBeginning(world.client, waiter.workflowId);
    finish();
    assert.deepEqual(await outcomes([holder, world.belay.get(waiter.workflowId, runId)]), ['completed', 'unknown']);
    assert.equal(begun(), 1);
  });

  test('a shared backup continues for the other runs if one of them is cancelled', async () => {
    const { holder, waiting, begun, finish } = await queue('backup', 2);
    const [leaves, stays] = waiting;
    assert.ok(leaves && stays);
    await leaves.cancel();
    assert.deepEqual(await outcomes([leaves]), ['cancelled']);
    finish();
    assert.deepEqual(await outcomes([holder, stays]), ['completed', 'completed']);
    assert.equal(begun(), 1);
  });

  test('a backup whose operation is terminated is made once more for all waiters', async () => {
    const { id, holder, waiting, begun, finish } = await queue('backup', 3, { ends: 'never' });
    await world.client.workflow.getHandle(backupServerId(id)).terminate('by hand');
    await eventually('another backup', () => begun() === 2);
    // It lasts until the last waiter has looked up the holder.
    await requestsAt(world.client, backupServerId(id), 2);
    finish();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['unknown', 'completed', 'completed', 'completed']);
    assert.equal(begun(), 2);
  });

  test('two runs that need the same backup and site both finish', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const both = () => world.belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE });
    assert.deepEqual(await outcomes([await both(), await both(), await deploy(siteId)]), [
      'completed',
      'completed',
      'completed',
    ]);
    assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 3);
  });
});
