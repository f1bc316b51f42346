/** Waits that a worker makes for operations, on real workers. Their rules are those of the loop: test/sim/pooled. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { POOLED_WAIT_ACTIVITY } from '../../../src/contract/names.ts';
import { deploySiteId } from '../../../src/contract/ids.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import { eventually } from '../../support/eventually.ts';
import { reads } from '../../support/journal.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

const POOLED: RunInput = { waits: 'pooled', deploy: { intervalMs: 300, tries: 400 } };

function siteThatBuilds(): string {
  const siteId = fresh('a');
  world.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
  return siteId;
}

/** Reads that were answered. The site was never deployed before, so those before the request were not. */
const readsOf = (siteId: string) =>
  reads(world.sandbox, `/v1/sites/${siteId}/deployments/latest`).filter(({ answered }) => answered === 200);

async function poolOf(siteId: string) {
  const { events } = await world.client.workflow.getHandle(deploySiteId(siteId)).fetchHistory();
  const scheduled = events!.filter(
    (it) => it.activityTaskScheduledEventAttributes?.activityType?.name === POOLED_WAIT_ACTIVITY,
  );
  const attempts = events!.flatMap(({ activityTaskStartedEventAttributes: it }) =>
    scheduled.some(({ eventId }) => String(eventId) === String(it?.scheduledEventId)) ? [it!.attempt!] : [],
  );
  return { scheduled: scheduled.length, attempts };
}

async function pendingOf(siteId: string) {
  const operation = world.client.workflow.getHandle(deploySiteId(siteId));
  const described = await operation.describe().catch(() => null);
  return described?.raw.pendingActivities?.find((it) => it.activityType?.name === POOLED_WAIT_ACTIVITY) ?? null;
}

describe('a pooled wait', { concurrency: true }, () => {
  test('is shown with its current try and last status', async () => {
    const siteId = siteThatBuilds();
    const run = await world.belay.start({ ...POOLED, siteIds: [siteId] });
    const later = async (from: 'progress' | 'status') =>
      eventually(`a later try in ${from}`, async () => {
        const { waiting } = await run[from]();
        return waiting?.kind === 'deployment' && waiting.try > 5 ? waiting : null;
      });
    for (const from of ['progress', 'status'] as const) {
      const { tries, lastStatus, pooled } = await later(from);
      assert.deepEqual([tries, lastStatus, pooled], [400, 'building', undefined]);
    }
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await run.result()).outcome, 'completed');
  });

  test('ends at once with a hint', async () => {
    const siteId = siteThatBuilds();
    const deploy = { intervalMs: 600_000, tries: 20 };
    const run = await world.belay.start({ ...POOLED, deploy, siteIds: [siteId] });
    await eventually('the pool', () => pendingOf(siteId));
    world.sandbox.finish({ site: siteId }, 'failed');
    await world.client.workflow.getHandle(deploySiteId(siteId)).signal('hint');
    await assert.rejects(run.result(), { type: 'DeploymentFailed' });
  });

  test('goes on at another worker if its own stops, and loses no poll', async () => {
    const [taskQueue, siteId] = [fresh('queue'), siteThatBuilds()];
    const first = await addWorker(world, taskQueue, world.sandbox.url);
    const belay = await belayOn(world, taskQueue);
    const run = await belay.start({ ...POOLED, siteIds: [siteId] });
    await eventually('reads of the pool', async () => (await pendingOf(siteId)) && readsOf(siteId).length >= 8);
    const second = await addWorker(world, taskQueue, world.sandbox.url);
    await first.stop();
    const before = readsOf(siteId).length;
    await eventually('reads of the other worker', () => readsOf(siteId).length > before + 3);
    world.sandbox.finish({ site: siteId }, 'completed');
    const { deployments } = await run.result();
    const { attempts } = await poolOf(siteId);
    assert.ok(attempts.length === 1 && attempts[0]! > 1, `attempts: ${attempts.join()}`);
    assert.equal(deployments[0]?.polls, readsOf(siteId).length);
    await second.stop();
  });

  test('is made elsewhere before a failure of its worker counts', async () => {
    const siteId = siteThatBuilds();
    const run = await world.belay.start({ ...POOLED, siteIds: [siteId] });
    await eventually('the pool', () => pendingOf(siteId));
    world.sandbox.fault({ route: 'latest', target: siteId, answer: { kind: 'status', code: 401 } });
    await eventually('another attempt', async () => Number((await pendingOf(siteId))?.attempt ?? 0) > 1);
    await eventually('its reads', async () => (await run.progress()).waiting?.kind === 'deployment');
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await run.result()).outcome, 'completed');
  });
});
