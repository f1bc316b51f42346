import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { drawBatch, type Killing } from './batch.ts';
import { BRIEF } from './mix.ts';
import { playBatch } from './play-batch.ts';
import { violationText } from './summary.ts';

const SIZE = 6;
const BATCHES: Killing[] = ['SIGKILL worker', 'SIGKILL server'];

describe('drawn scenarios break no invariant', { concurrency: true }, () => {
  for (const killing of BATCHES) {
    test(`with a ${killing} in their midst`, async () => {
      const seed = Math.floor(Math.random() * 1e6);
      const batch = drawBatch({ seed, size: SIZE, mix: BRIEF, killing: [killing] });
      const draws = await playBatch(batch);
      const repeat = `npm run test:chaos -- --runs ${SIZE} --size ${SIZE} --seed ${seed} --brief --killing "${killing}"`;
      assert.equal(draws.map((draw) => violationText(draw, batch, repeat)).join(''), '');
    });
  }
});
