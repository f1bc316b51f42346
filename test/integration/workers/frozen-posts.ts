import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { siteTarget } from '../../../src/contract/target.ts';
import * as around from '../../support/around-post.ts';
import { eventually } from '../../support/eventually.ts';
import { holdPosts } from '../../support/holding-relay.ts';
import { posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await around.startTestTemporal();
});

const WHY = { reason: 'disks', forMs: 3_600_000 };
const deployPosts = (siteId: string) => posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length;

describe('a POST in an ad-hoc freeze', { concurrency: 2 }, () => {
  test('is not sent again if the freeze began after its worker judged it and was killed before it was sent', async () => {
    const relay = await holdPosts(world.sandbox.url);
    const queue = fresh('queue');
    const worker = await around.workerProcess(queue, { BELAY_API_URL: relay.url });
    const belay = await belayOn(world, queue);
    const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
    // The gap between reads leaves time for another worker to start: without the freeze, it would send once more.
    const run = await belay.start({ siteIds: [siteId], deploy: { intervalMs: 20_000, tries: 5, settleMs: 10_000 } });
    await eventually('the POST', () => relay.held > 0);
    await around.kill(worker);
    await belay.freezes.begin({ scope: siteTarget(siteId), ...WHY });
    await addWorker(world, queue, relay.url);
    const { outcome, error } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown'], error?.message);
    assert.match(error?.message ?? '', /not sent: frozen by "freeze:site:/);
    assert.deepEqual([relay.held, deployPosts(siteId)], [1, 0]);
  });
});
