/** How long operations took, as Temporal's list and histories tell. What follows from it is in sim/rules/runs. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { createFindPastDurations } from '../../../src/client/lookups/find-past-durations.ts';
import { eventually } from '../../support/eventually.ts';
import { resultOf } from '../../support/outcome.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh, type TestStack } from '../../support/world.ts';

const INTERVAL_MS = 200;

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

describe('past durations', () => {
  test('are those of the closed operations of the service, completed or failed, the newest first', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
    let service = '';
    async function deploy(ends: 'completed' | 'failed' | null) {
      const run = await world.belay.start({
        siteIds: [siteId],
        deploy: { intervalMs: INTERVAL_MS, tries: ends === null ? 2 : 500 },
      });
      const seen = async () => (await run.status()).result.deployments[0]?.inProgressAt;
      if (ends !== null) await eventually('a status in progress', seen);
      if (ends !== null) world.sandbox.finish({ site: siteId }, ends);
      const result = await resultOf(run);
      service = result.service!;
      assert.equal(result.outcome, ends ?? 'timed_out');
    }
    for (const ends of ['completed', 'failed', null] as const) await deploy(ends);
    const query = { lockId: deploySiteId(siteId), services: [service], limit: 10 };
    const find = createFindPastDurations(world.client);
    const found = await eventually('all of them in the list', async () => {
      const durations = await find(query);
      return durations.length === 3 ? durations : null;
    });
    const [timedOut, failed, completed] = found;
    assert.equal(timedOut, null);
    assert.ok(failed! > 0 && completed! > 0, found.join());
    assert.deepEqual(await find(query), found, 'also from memory');
    assert.deepEqual(await find({ ...query, services: ['http://elsewhere'] }), []);
    assert.deepEqual(await find({ ...query, limit: 1 }), [null]);
  });
});
