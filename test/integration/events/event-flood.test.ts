import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
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
  const { results, answers, notSent } = await flood(world, FLOOD);
  t.diagnostic(JSON.stringify(Object.fromEntries(answers)));
  for (const { outcome, error } of results) assert.equal(outcome, 'completed', error?.message);
  assert.equal(notSent, 0);
  assert.deepEqual([...answers.keys()], [202]);
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
