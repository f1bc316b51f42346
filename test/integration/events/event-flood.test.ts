import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { startTestTemporal } from '../../support/around-post.ts';
import { countNotSent, flood, type Flood } from '../../support/event-flood.ts';
import { resultOf } from '../../support/outcome.ts';
import { addWorkerWithoutPosts, belayOn, fresh } from '../../support/world.ts';
import { eventStack, type EventStack } from './shared.ts';

let world: EventStack;
before(async () => {
  world = await eventStack();
});

const FEW = { workflowTasks: 2, activities: 2, cachedWorkflows: 5 };
const FLOOD: Flood = {
  ...{ perSecond: 3, runs: 2, leastMs: 4_000, durationMs: 0 },
  ...{ words: 1_000, maxPerMinute: 60_000, slots: FEW },
};

// The rate cap is tested in test/unit/event-floods.test.ts.
test('runs complete and every POST is sent in time beside a flood of events with neither cap nor coalescing, and few slots for events', async (t) => {
  const flooded = async () => {
    const { results, answers, notSent } = await flood(world, FLOOD);
    t.diagnostic(JSON.stringify(Object.fromEntries(answers)));
    for (const { outcome, error } of results) assert.equal(outcome, 'completed', error?.message);
    return { notSent, statuses: [...answers.keys()] };
  };
  const wanted = { notSent: 0, statuses: [202] };
  let seen = await flooded();
  // A machine that stalls for seconds sends nothing in time, with or without a flood. It does not stall each time.
  for (let left = 4; left > 0 && !isDeepStrictEqual(seen, wanted); left -= 1) seen = await flooded();
  assert.deepEqual(seen, wanted);
});

test('a request that no worker takes in time counts as not sent', async () => {
  const taskQueue = fresh('q');
  // Its server lets a worker keep the reads that it schedules.
  const eager = await startTestTemporal();
  await addWorkerWithoutPosts(eager, taskQueue);
  const belay = await belayOn(eager, taskQueue);
  const pace = { intervalMs: 100, tries: 1 };
  const results = await Promise.all(
    [{ serverId: fresh('s'), siteIds: [] }, { siteIds: [fresh('a')] }].map(async (input) =>
      resultOf(await belay.start({ ...input, backup: pace, deploy: pace })),
    ),
  );
  for (const { outcome, error } of results) assert.equal(outcome, 'not_started', error?.message);
  assert.ok((await countNotSent(eager, results)) >= results.length);
});
