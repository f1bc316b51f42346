/** A rollout with a gate that measures a page. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outcomesOf } from '../../../support/rollouts.ts';
import { endOfRollout } from '../../plays/start-rollout.ts';
import { actionsOf, begunOn, endsOf, gatedBy, inTwoWaves } from './gated.ts';
import { inFleet, reaches } from './rollouts-in-flight.ts';

const COMPLETED = ['completed', 'completed', 'completed'];
const SMOKE = gatedBy(
  {},
  {
    smoke: {
      url: 'https://ci.internal/smoke',
      ...{ json: { ok: 'true' }, value: 'rate', max: 0.01, interval: 30_000, tries: 4, inARow: 2 },
    },
  },
);
const AFTER = { gates: ['smoke'] };

describe('a rollout with a gate that measures a page', () => {
  test(
    'starts the next wave once the page was good as many times in a row as it has to be',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.page = () => ({ ok: true, rate: 0.004 });
      const result = await endOfRollout(stack, inTwoWaves(stack, {}, AFTER).rollout);
      assert.deepEqual([outcomesOf(result), endsOf(result)], [COMPLETED, [['smoke', 'passed']]]);
      assert.deepEqual(
        meter.asked.map(({ query }) => query),
        Array(2).fill('https://ci.internal/smoke'),
      );
    }, SMOKE),
  );

  for (const [what, shown, reason] of [
    [
      'answers and is not as expected',
      { ok: false, rate: 0.004 },
      /smoke after wave canary failed: ok is "false", expected true/,
    ],
    [
      'has a number beyond its limit',
      { ok: true, rate: 0.03 },
      /smoke after wave canary failed: 0\.03 > 0\.01 of rate/,
    ],
  ] as const) {
    test(
      `fails with GateFailed if the page ${what}`,
      inFleet(async (stack) => {
        stack.world.meter.page = () => shown;
        const { others, rollout } = inTwoWaves(stack, {}, AFTER);
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual([result.outcome, result.error?.type], ['failed', 'GateFailed']);
        assert.match(result.error?.message ?? '', reason);
        assert.equal(begunOn(stack, others), 0);
      }, SMOKE),
    );
  }

  test(
    'pauses while the page shows no value or does not answer, and resumes by itself',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.page = (_address, index) => (index % 2 === 0 ? {} : null);
      const { others, rollout } = inTwoWaves(stack, {}, AFTER);
      await reaches(stack, rollout, 'paused');
      assert.deepEqual([meter.asked.length, begunOn(stack, others)], [4, 0]);
      meter.page = () => ({ ok: true, rate: 0.004 });
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), endsOf(result)], [COMPLETED, [['smoke', 'passed']]]);
      assert.deepEqual(actionsOf(result), ['pause by gate:smoke', 'resume by gate:smoke']);
    }, SMOKE),
  );

  test(
    'keeps the address of the page out of its history',
    inFleet(async (stack) => {
      stack.world.meter.page = () => null;
      const { rollout } = inTwoWaves(stack, { onGates: { inconclusive: 'stop' } }, AFTER);
      await endOfRollout(stack, rollout);
      const bytes = (_name: string, it: unknown) =>
        it instanceof Uint8Array ? Buffer.from(it).toString('latin1') : it;
      const text = JSON.stringify(rollout.history, bytes);
      assert.match(text, /no answer \(ECONNREFUSED\)/);
      assert.doesNotMatch(text, /ci\.internal/);
    }, SMOKE),
  );
});
