import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type DeploymentResult, type RunInput } from '../../../../src/contract/run.ts';
import { backupServerId, deploySiteId } from '../../../../src/contract/ids.ts';
import type { Kind } from '../../../../src/sandbox/script.ts';
import { eventually } from '../../../support/eventually.ts';
import { began } from '../../../support/journal.ts';
import { resultOf } from '../../../support/outcome.ts';
import { requestsAt } from '../../../support/queued.ts';
import { resetToBeginning } from '../../../support/reset.ts';
import { sharedStack } from '../../../support/shared-stack.ts';
import { fresh, type TestStack } from '../../../support/world.ts';
import type { Run } from '../../../../src/client/runs/run-handle.ts';

const PACE = { intervalMs: 500, tries: 300 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

const backUp = (serverId: string, more: Partial<RunInput> = {}): Promise<Run> =>
  world.belay.start({ serverId, siteIds: [], backup: PACE, ...more });

/** Starts a run that holds the lock until `finish`, and runs that wait for it. */
async function queue(kind: Kind, waiters: number) {
  const id = fresh(kind === 'backup' ? 's' : 'a');
  const [lockId, target] = kind === 'backup' ? [backupServerId(id), { server: id }] : [deploySiteId(id), { site: id }];
  const start = () => (kind === 'backup' ? backUp(id) : world.belay.start({ siteIds: [id], deploy: PACE }));
  const begun = () => began(world.sandbox, kind, id).length;
  world.sandbox.script(target, { ends: 'never' }, {});
  const holder = await start();
  await eventually(`the ${kind}`, () => begun() === 1);
  const waiting: Run[] = [];
  while (waiting.length < waiters) {
    waiting.push(await start());
    // Until the holder has the request of this run, the next run could overtake it.
    await requestsAt(world.client, lockId, waiting.length);
  }
  return { lockId, holder, waiting, begun, finish: () => world.sandbox.finish(target, 'completed') };
}

const handleOf = (workflowId: string) => world.client.workflow.getHandle(workflowId);
const resultsOf = (runs: Run[]) => Promise.all(runs.map((run) => resultOf(run)));
const outcomes = async (runs: Run[]) => (await resultsOf(runs)).map(({ outcome }) => outcome);

/** When a run's deployment held the lock, by the clock of the workflow. */
function span({ deployments: [deployment] }: { deployments: DeploymentResult[] }): [string, string] {
  return [deployment?.startedAt ?? '', deployment?.endedAt ?? ''];
}

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('locks and sharing', { concurrency: 8 }, () => {
  test('runs for one site deploy one after another in the order of their start', async () => {
    const { holder, waiting, begun, finish } = await queue('deployment', 2);
    finish();
    const spans = (await resultsOf([holder, ...waiting])).map(span);
    assert.equal(begun(), 3);
    for (const [index, [from]] of spans.slice(1).entries()) {
      const [, to] = spans[index] ?? [];
      assert.ok(to !== undefined && to <= from, `run ${index + 2} began before run ${index + 1} ended`);
    }
  });

  test('a terminated waiter is skipped', async () => {
    const { holder, waiting, begun, finish } = await queue('deployment', 2);
    const [doomed, other] = waiting;
    assert.ok(doomed && other);
    await handleOf(doomed.workflowId).terminate('by hand');
    finish();
    assert.deepEqual(await outcomes([holder, other]), ['completed', 'completed']);
    assert.equal(begun(), 2);
  });

  test('waiters detect on their own that a terminated holder released its lock', async () => {
    const { lockId, holder, waiting, finish } = await queue('deployment', 1);
    await handleOf(lockId).terminate('by hand');
    finish();
    assert.deepEqual(await outcomes([holder, ...waiting]), ['unknown', 'completed']);
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
    const { lockId, waiting, begun, finish } = await queue('deployment', 2);
    await resetToBeginning(world.client, lockId);
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

  test('a backup continues for the runs that share it if its maker is cancelled', async () => {
    const { holder, waiting, begun, finish } = await queue('backup', 1);
    await holder.cancel();
    const { outcome, error, backup } = await resultOf(holder);
    assert.deepEqual([outcome, backup?.outcome, backup?.trigger.attempts], ['cancelled', 'cancelled', 1]);
    assert.match(error?.message ?? '', new RegExp(`backup ${backup?.backupId} of server .* continues, followed by`));
    finish();
    const [shared] = await resultsOf(waiting);
    assert.deepEqual([shared?.outcome, shared?.backup?.source], ['completed', 'shared']);
    assert.equal(begun(), 1);
  });
});
