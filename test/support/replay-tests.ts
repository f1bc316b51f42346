/** Registers the replays that the suites of this process asked for. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Recorded } from '../histories/kept.ts';
import { historiesOf, oneOfEachShape, replayAll, simulateAll } from './replay.ts';
import { replays } from './replay-later.ts';

/** Suites whose histories drive the simulator as well. Together they have every shape that it plays. */
const SIMULATED = ['runs', 'ends of POSTs', 'lost, stalled and unfit workers', 'rollouts'];

describe(`the histories of the suites of ${replays.map(({ suite }) => suite).join(', ')}`, () => {
  const simulated: Recorded[] = [];
  const others: Recorded[] = [];
  before(async () => {
    for (const replay of replays) {
      (SIMULATED.includes(replay.suite) ? simulated : others).push(...(await historiesOf(replay)));
    }
  });

  test('replay without a difference, one of each shape', async () => {
    await replayAll(oneOfEachShape([...others, ...simulated]));
  });

  if (!replays.some(({ suite }) => SIMULATED.includes(suite))) return;
  test('drive the simulator to the same commands, one of each shape', async () => {
    assert.ok((await simulateAll(oneOfEachShape(simulated))) > 0);
  });
});
