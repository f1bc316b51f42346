/** The last import of a group of suites: registers the replays that they asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replayAll, replays, simulateAll } from './replay.ts';

/** Suites whose histories drive the simulator as well. Together they have every shape that it plays. */
const SIMULATED = ['locks', 'runs', 'evidence', 'ends of POSTs', 'lost, stalled and unfit workers', 'rollouts'];

for (const replay of replays) {
  let histories: Awaited<ReturnType<typeof replayAll>> = [];
  test(`every history of the suite of ${replay.suite} replays without a difference`, async () => {
    histories = await replayAll(replay);
  });
  if (!SIMULATED.includes(replay.suite)) continue;
  test(`the histories of the suite of ${replay.suite} drive the simulator to the same commands`, async () => {
    assert.ok((await simulateAll(histories)) > 0);
  });
}
