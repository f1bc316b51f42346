import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { drawBatch, type Killing } from './batch.ts';
import { BRIEF } from './mix.ts';
import { playBatch } from './play-batch.ts';
import { violationText } from './summary.ts';

const SIZE = 6;
const BATCHES: Killing[] = ['SIGKILL worker', 'SIGKILL server'];
/** `npm run test:chaos` draws others. */
const SEED = 420_000;

describe('random scenarios break no invariant', { concurrency: true }, () => {
  for (const [index, killing] of BATCHES.entries()) {
    test(`hold with a ${killing} during the batch`, async (t) => {
      const seed = SEED + index;
      t.diagnostic(`seed ${seed}`);
      const batch = drawBatch({ seed, size: SIZE, mix: BRIEF, killing: [killing] });
      const draws = await playBatch(batch);
      const repeat = `npm run test:chaos -- --runs ${SIZE} --size ${SIZE} --seed ${seed} --brief --killing "${killing}"`;
      assert.equal(draws.map((draw) => violationText(draw, batch, repeat)).join(''), '');
    });
  }
});
