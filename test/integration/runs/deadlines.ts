/** Deadlines that need real workers. The others are in test/sim/rules/runs/deadlines.ts. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { began, posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 300 };
const QUICK = { durationMs: 500 };

let world: TestStack;
before(async () => {
  world = await sharedStack({ backup: QUICK, deployment: QUICK });
});

const sent = (siteId: string) => posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length;

describe('deadlines', { concurrency: 2 }, () => {
  test('a run whose worker was away too long after its backup deploys nothing, and says why', async () => {
    const taskQueue = fresh('q');
    const worker = await addWorker(world, taskQueue, world.sandbox.url);
    const belay = await belayOn(world, taskQueue);
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const backup = { ...PACE, maxAgeAtDeployMs: 1 };
    const run = await belay.start({ serverId, siteIds: [siteId], backup, deploy: PACE });
    await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length > 0);
    await worker.stop();
    world.sandbox.finish({ server: serverId }, 'completed');
    await addWorker(world, taskQueue, world.sandbox.url);
    const { outcome, error, backup: made, deployments } = await resultOf(run);
    assert.deepEqual([outcome, error?.type, made?.outcome], ['not_started', 'TooLate', 'completed']);
    assert.match(error?.message ?? '', /the backup may be at most 1ms old/);
    assert.deepEqual(
      deployments.map((it) => it.outcome),
      ['not_started'],
    );
    assert.equal(sent(siteId), 0);
  });

  test('deploysUntil in an unknown time zone ends not started', async () => {
    const siteId = fresh('a');
    const deploysUntil = { time: '06:00', timeZone: 'Europe/Nowhere' };
    const { outcome, error } = await resultOf(
      await world.belay.start({ siteIds: [siteId], deploy: PACE, deploysUntil }),
    );
    assert.deepEqual([outcome, error?.type], ['not_started', 'Usage']);
    assert.equal(sent(siteId), 0);
  });
});
