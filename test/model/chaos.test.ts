import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawBatch, type Killing } from './batch.ts';
import { BRIEF } from './mix.ts';
import { playBatch } from './play-batch.ts';
import { violationText } from './summary.ts';

const SIZE = 8;
const KILLING: Killing[] = ['SIGKILL worker', 'SIGKILL server'];
/** `npm run test:chaos` draws others. */
const SEED = 420_000;

test('random scenarios with a SIGKILL of a worker and of the server break no invariant', async () => {
  const batch = drawBatch({ seed: SEED, size: SIZE, mix: BRIEF, killing: KILLING });
  const draws = await playBatch(batch);
  const killing = KILLING.map((it) => `--killing "${it}"`).join(' ');
  const repeat = `npm run test:chaos -- --runs ${SIZE} --size ${SIZE} --seed ${SEED} --brief ${killing}`;
  assert.equal(draws.map((draw) => violationText(draw, batch, repeat)).join(''), '');
});
