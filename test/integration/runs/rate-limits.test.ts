/** How workers hold their requests back. What runs make of it is in test/sim/rules/answers/rate-limits.test.ts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { began, posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { workerLog } from '../../support/runtime.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 400, tries: 200 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

// One after another: a pause is shared by all runs of the worker.
describe('rate limits', () => {
  test('a POST that its worker holds back is no attempt, and is sent when its turn comes', async () => {
    const queue = fresh('queue');
    // Two seconds between two requests: longer than a POST waits in its worker.
    await addWorker(world, queue, world.sandbox.url, {}, { maxRequestsPerSecond: 0.5 });
    const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
    const belay = await belayOn(world, queue);
    const result = await resultOf(await belay.start({ siteIds: [siteId], deploy: PACE }));
    assert.equal(result.outcome, 'completed', result.error?.message);
    assert.equal(result.deployments[0]?.trigger.attempts, 1);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 1);
  });

  test('two workers together keep BELAY_MAX_RPS, and every run completes', async () => {
    const [queue, ceiling] = [fresh('queue'), 8];
    const workers = [1, 2].map(() => addWorker(world, queue, world.sandbox.url, {}, { maxRequestsPerSecond: ceiling }));
    await Promise.all(workers);
    await eventually('both shares', () => (workerLog().match(/"share":4[,}]/g)?.length ?? 0) >= 2);
    const belay = await belayOn(world, queue);
    const before = world.sandbox.journal.length;
    const sites = Array.from({ length: 6 }, () => siteAfter(world.sandbox, FAILED, { durationMs: 1_500 }));
    const startedMs = Date.now();
    const runs = await Promise.all(
      sites.map((siteId) => belay.start({ siteIds: [siteId], deploy: { intervalMs: 100, tries: 500 } })),
    );
    for (const run of runs) {
      const { outcome, error } = await resultOf(run);
      assert.equal(outcome, 'completed', error?.message);
    }
    for (const siteId of sites) assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
    const atMs = world.sandbox.journal.slice(before).flatMap((it) => (it.by === 'api' ? [Date.parse(it.at)] : []));
    // The first requests of a slow machine may arrive late and at once, so their time counts from before their turns.
    const spanMs = atMs.at(-1)! - startedMs;
    // A quarter less: workers that did not share would need half. A slow machine makes the span longer.
    assert.ok(spanMs >= 0.75 * ((atMs.length - 2) / ceiling) * 1_000, `${atMs.length} requests in ${spanMs} ms`);
  });
});
