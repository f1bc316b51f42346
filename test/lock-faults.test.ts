import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../src/ids.ts';
import type { Run } from '../src/starter.ts';
import { eventually } from './support/eventually.ts';
import { began } from './support/journal.ts';
import { resultOf } from './support/outcome.ts';
import { queuedFor } from './support/queued.ts';
import { resetToBeginning } from './support/reset.ts';
import { fresh, startWorld, type World } from './support/world.ts';

const PACE = { intervalMs: 200, tries: 60 };

let world: World;
before(async () => {
  world = await startWorld({ defaults: { backup: { durationMs: 3_000 }, deployment: { durationMs: 2_500 } } });
});

const deploy = (siteId: string): Promise<Run> => world.belay.start({ siteIds: [siteId], deploy: PACE });
const backUp = (serverId: string): Promise<Run> => world.belay.start({ serverId, siteIds: [], backup: PACE });

const backUpSlowly = (serverId: string): Promise<Run> => {
  world.sandbox.script({ server: serverId }, { durationMs: 17_000 });
  return world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 500, tries: 60 } });
};

/** One that holds the lock, and others that wait for it. */
async function queue(start: (id: string) => Promise<Run>, kind: 'backup' | 'deployment', waiters: number) {
  const id = fresh(kind === 'backup' ? 's' : 'a');
  const holder = await start(id);
  await eventually(`the ${kind}`, () => began(world.sandbox, kind, id).length === 1);
  const waiting: Run[] = [];
  for (let n = 0; n < waiters; n += 1) {
    const run = await start(id);
    await queuedFor(run);
    waiting.push(run);
  }
  return { id, holder, waiting, begun: () => began(world.sandbox, kind, id).length };
}

const handleOf = ({ workflowId }: Run) => world.client.workflow.getHandle(workflowId);
const outcomes = async (runs: Run[]) => (await Promise.all(runs.map((run) => resultOf(run)))).map((it) => it.outcome);

// Each test has sites and servers of its own, and most of them wait: they run at once.
describe('locks under faults', { concurrency: 8 }, () => {
  test('a waiter that was terminated is passed over', async () => {
    const { holder, waiting, begun } = await queue(deploy, 'deployment', 3);
    const [doomed, ...others] = waiting;
    assert.ok(doomed);
    await handleOf(doomed).terminate('by hand');
    assert.deepEqual(await outcomes([holder, ...others]), ['completed', 'completed', 'completed']);
    assert.equal(begun(), 3);
  });

  test('a holder that was cancelled hands its lock on', async () => {
    const { holder, waiting, begun } = await queue(deploy, 'deployment', 1);
    await holder.cancel();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['cancelled', 'completed']);
    assert.equal(begun(), 2);
  });

  test('a holder that was reset sends nothing again, and its waiters go on', async () => {
    const { id, waiting, begun } = await queue(deploy, 'deployment', 2);
    await resetToBeginning(world.client, deploySiteId(id));
    assert.deepEqual(await outcomes(waiting), ['completed', 'completed']);
    assert.equal(begun(), 3);
  });

  test('a waiter that was reset waits again, and triggers nothing', async () => {
    const { holder, waiting, begun } = await queue(deploy, 'deployment', 1);
    const [waiter] = waiting;
    assert.ok(waiter);
    const runId = await resetToBeginning(world.client, waiter.workflowId);
    assert.deepEqual(await outcomes([holder, world.belay.get(waiter.workflowId, runId)]), ['completed', 'unknown']);
    assert.equal(begun(), 1);
  });

  test('cancelling one who shares a backup takes it from nobody else', async () => {
    const { holder, waiting, begun } = await queue(backUp, 'backup', 2);
    const [leaves, stays] = waiting;
    assert.ok(leaves && stays);
    await leaves.cancel();
    assert.deepEqual(await outcomes([holder, leaves, stays]), ['completed', 'cancelled', 'completed']);
    assert.equal(begun(), 1);
  });

  test('a backup whose watcher was terminated is made once more, for all who wait', async () => {
    // It lasts longer than the time after which waiters look for themselves.
    const { id, holder, waiting, begun } = await queue(backUpSlowly, 'backup', 3);
    await world.client.workflow.getHandle(backupServerId(id)).terminate('by hand');
    assert.deepEqual(await outcomes([holder, ...waiting]), ['unknown', 'completed', 'completed', 'completed']);
    assert.equal(begun(), 2);
  });

  test('two runs that each need the backup and the site of the other end both', async () => {
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
