import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import type { Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import type { ScriptPart } from '../../../src/sandbox/hosting/script.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { queuedFor } from '../../support/queued.ts';
import { resetToBeginning } from '../../support/reset.ts';
import { fresh, startWorld, type World } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 300 };

let world: World;
before(async () => {
  world = await startWorld({ defaults: { backup: { durationMs: 1_000 }, deployment: { durationMs: 1_000 } } });
});

const deploy = (siteId: string): Promise<Run> => world.belay.start({ siteIds: [siteId], deploy: PACE });
const backUp = (serverId: string): Promise<Run> => world.belay.start({ serverId, siteIds: [], backup: PACE });

/** One that holds the lock until it is finished, and others that wait for it. @param next how the later ones go */
async function queue(kind: 'backup' | 'deployment', waiters: number, next: ScriptPart = {}) {
  const start = kind === 'backup' ? backUp : deploy;
  const id = fresh(kind === 'backup' ? 's' : 'a');
  const target = kind === 'backup' ? { server: id } : { site: id };
  world.sandbox.script(target, { ends: 'never' }, next);
  const holder = await start(id);
  await eventually(`the ${kind}`, () => began(world.sandbox, kind, id).length === 1);
  const waiting: Run[] = [];
  for (let n = 0; n < waiters; n += 1) {
    const run = await start(id);
    await queuedFor(run);
    waiting.push(run);
  }
  const finish = () => world.sandbox.finish(target, 'completed');
  return { id, holder, waiting, finish, begun: () => began(world.sandbox, kind, id).length };
}

const handleOf = ({ workflowId }: Run) => world.client.workflow.getHandle(workflowId);
const outcomes = async (runs: Run[]) => (await Promise.all(runs.map((run) => resultOf(run)))).map((it) => it.outcome);

// Each test has sites and servers of its own, and most of them wait: they run at once.
describe('locks under faults', { concurrency: 8 }, () => {
  test('a waiter that was terminated is passed over', async () => {
    const { holder, waiting, begun, finish } = await queue('deployment', 3);
    const [doomed, ...others] = waiting;
    assert.ok(doomed);
    await handleOf(doomed).terminate('by hand');
    finish();
    assert.deepEqual(await outcomes([holder, ...others]), ['completed', 'completed', 'completed']);
    assert.equal(begun(), 3);
  });

  test('a holder that was terminated frees its lock, and waiters find out by themselves', async () => {
    const { id, holder, waiting, finish } = await queue('deployment', 1);
    await world.client.workflow.getHandle(deploySiteId(id)).terminate('by hand');
    finish();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['unknown', 'completed']);
  });

  test('a holder that was cancelled hands its lock on', async () => {
    const { holder, waiting, begun, finish } = await queue('deployment', 1);
    await holder.cancel();
    await resultOf(holder);
    finish();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['cancelled', 'completed']);
    assert.equal(begun(), 2);
  });

  test('a holder that was reset sends nothing again, and its waiters go on', async () => {
    const { id, waiting, begun, finish } = await queue('deployment', 2);
    await resetToBeginning(world.client, deploySiteId(id));
    finish();
    assert.deepEqual(await outcomes(waiting), ['completed', 'completed']);
    assert.equal(begun(), 3);
  });

  test('a waiter that was reset waits again, and triggers nothing', async () => {
    const { holder, waiting, begun, finish } = await queue('deployment', 1);
    const [waiter] = waiting;
    assert.ok(waiter);
    const runId = await resetToBeginning(world.client, waiter.workflowId);
    finish();
    assert.deepEqual(await outcomes([holder, world.belay.get(waiter.workflowId, runId)]), ['completed', 'unknown']);
    assert.equal(begun(), 1);
  });

  test('cancelling one who shares a backup takes it from nobody else', async () => {
    const { holder, waiting, begun, finish } = await queue('backup', 2);
    const [leaves, stays] = waiting;
    assert.ok(leaves && stays);
    await leaves.cancel();
    finish();
    assert.deepEqual(await outcomes([holder, leaves, stays]), ['completed', 'cancelled', 'completed']);
    assert.equal(begun(), 1);
  });

  test('a backup whose watcher was terminated is made once more, for all who wait', async () => {
    // It lasts longer than the time after which waiters look for themselves.
    const { id, holder, waiting, begun } = await queue('backup', 3, { durationMs: 17_000 });
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
