/** Gates that cannot be judged: the rollout pauses, goes on measuring, and resumes by itself. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outcomesOf, servers } from '../../../support/rollouts.ts';
import { decide, endOfRollout, progressOf, refusalOf } from '../../plays/start-rollout.ts';
import { actionsOf, begunOn, endsOf, ERRORS, gatedBy, HOUR, inTwoWaves, measured, MINUTE } from './gated.ts';
import { ANNE, begin, inFleet, reaches } from './rollouts-in-flight.ts';

const COMPLETED = ['completed', 'completed', 'completed'];
const SLOW_MS = 5 * MINUTE;

describe('a gate without data', () => {
  test(
    'pauses the rollout after its tries, is measured on, and lets it resume by itself once there is data',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = (_query, index) => (index < 20 ? 'NaN' : '0.004');
      const { others, rollout } = inTwoWaves(stack);
      await reaches(stack, rollout, 'paused');
      assert.deepEqual([meter.asked.length, begunOn(stack, others)], [20, 0]);
      const { waiting } = await progressOf(stack, rollout);
      assert.deepEqual(waiting?.kind === 'gate' && waiting.inconclusive, ['errors']);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), endsOf(result)], [COMPLETED, [['errors', 'passed']]]);
      assert.deepEqual(actionsOf(result), ['pause by gate:errors', 'resume by gate:errors']);
      const [before, after] = meter.asked.slice(19, 21).map(({ atMs }) => atMs);
      assert.ok(Math.abs(after! - before! - SLOW_MS) < 5_000);
    }, gatedBy()),
  );

  test(
    'resumes by itself although the workers were killed meanwhile',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = () => 'NaN';
      const { rollout } = inTwoWaves(stack);
      await reaches(stack, rollout, 'paused');
      stack.world.restartWorkers(HOUR);
      await stack.forward(2 * HOUR);
      meter.shows = () => '0.004';
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), actionsOf(result).length], [COMPLETED, 2]);
    }, gatedBy()),
  );

  for (const [what, shows, measurements] of [
    ['answers no one gets', null, 20],
    ['no series', {}, 20],
    ['refusals of the query, after three', { status: 400, error: 'parse error' }, 3],
    ['statuses that say nothing', { status: 503 }, 20],
  ] as const) {
    test(
      `is never passed by ${what}`,
      inFleet(async (stack) => {
        const { meter } = stack.world;
        meter.shows = () => shows;
        const { others, rollout } = inTwoWaves(stack, { onGates: { inconclusive: 'stop' } });
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'OutcomeUnknown']);
        assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
        assert.deepEqual([meter.asked.length, begunOn(stack, others)], [measurements, 0]);
        assert.deepEqual(endsOf(result), [['errors', 'gave_up']]);
      }, gatedBy()),
    );
  }

  test(
    'has none as long as there is too little to measure',
    inFleet(
      async (stack) => {
        stack.world.meter.shows = (query) => (query === 'requests' ? '7' : '0.001');
        const result = await endOfRollout(stack, inTwoWaves(stack, { onGates: { inconclusive: 'stop' } }).rollout);
        assert.match(result.error?.message ?? '', /no data: atLeast is 7, and has to be 20/);
      },
      gatedBy({ atLeast: { query: 'requests', min: 20 } }),
    ),
  );

  test(
    'neither breaks a row nor makes it longer',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = (_query, index) => [...['0.004', 'NaN', null, '0.004', '0.004', {}], '0.004'][Math.min(index, 6)]!;
      const result = await endOfRollout(stack, inTwoWaves(stack).rollout);
      assert.deepEqual([outcomesOf(result), meter.asked.length], [COMPLETED, 8]);
    }, gatedBy()),
  );

  test(
    'ends the rollout once its patience is over, and no one can tell',
    inFleet(async (stack) => {
      const { others, rollout } = inTwoWaves(stack, { onGates: { patienceMs: 6 * HOUR } });
      await reaches(stack, rollout, 'paused');
      const pausedMs = stack.world.clock.nowMs;
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'OutcomeUnknown']);
      assert.match(result.error?.message ?? '', /stayed inconclusive until its patience was over/);
      assert.ok(Math.abs(Date.parse(result.endedAt!) - pausedMs - 6 * HOUR) < MINUTE);
      assert.deepEqual(actionsOf(result), ['pause by gate:errors', 'stop by gate:errors']);
      assert.equal(begunOn(stack, others), 0);
    }, gatedBy()),
  );

  test(
    'that fails later pauses the rollout for a decision, and is measured no more',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = (_query, index) => (index < 22 ? 'NaN' : '0.03');
      const { rollout } = inTwoWaves(stack, { onGates: { failed: 'pause' } });
      await measured(stack, 23);
      await stack.forward(48 * HOUR);
      assert.equal(meter.asked.length, 23);
      await decide(stack, rollout, 'abort', ANNE);
      assert.equal((await endOfRollout(stack, rollout)).error?.type, 'GateFailed');
    }, gatedBy()),
  );

  test(
    'does not resume a rollout that a person has paused meanwhile',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = (_query, index) => (index < 22 ? 'NaN' : '0.004');
      const { others, rollout } = inTwoWaves(stack);
      await reaches(stack, rollout, 'paused');
      await decide(stack, rollout, 'pause', ANNE);
      assert.match((await refusalOf(stack, rollout, 'pause', ANNE)) ?? '', /already paused/);
      await stack.forward(24 * HOUR);
      assert.equal((await progressOf(stack, rollout)).waiting?.kind, 'decision');
      assert.deepEqual([meter.asked.length, begunOn(stack, others)], [27, 0]);
      await decide(stack, rollout, 'resume', ANNE);
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), COMPLETED);
    }, gatedBy()),
  );

  test(
    'is not let off by the resume of a pause that stood before its doubt, but by one that follows its own pause',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = () => 'NaN';
      const { others, rollout } = inTwoWaves(stack);
      await measured(stack, 3);
      await decide(stack, rollout, 'pause', { by: 'anne', reason: 'lunch' });
      await measured(stack, 22);
      await decide(stack, rollout, 'resume', { by: 'anne', reason: 'lunch is over' });
      await stack.forward(HOUR);
      const { waiting, result } = await progressOf(stack, rollout);
      assert.deepEqual(waiting?.kind === 'gate' && waiting.inconclusive, ['errors']);
      const told = ['pause by anne', 'note by gate:errors', 'resume by anne', 'pause by gate:errors'];
      assert.deepEqual([actionsOf(result), begunOn(stack, others)], [told, 0]);
      await decide(stack, rollout, 'resume', ANNE);
      const end = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(end), endsOf(end)], [COMPLETED, [['errors', 'overridden']]]);
      assert.equal(end.held[0]?.why, ANNE.reason);
    }, gatedBy()),
  );

  test(
    'is not let off by the resume of a pause that a person made after its own',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => 'NaN';
      const { others, rollout } = inTwoWaves(stack);
      await reaches(stack, rollout, 'paused');
      await decide(stack, rollout, 'pause', { by: 'anne', reason: 'lunch' });
      await decide(stack, rollout, 'resume', { by: 'anne', reason: 'lunch is over' });
      await stack.forward(HOUR);
      assert.deepEqual([(await progressOf(stack, rollout)).waiting?.kind, begunOn(stack, others)], ['gate', 0]);
      stack.world.meter.shows = () => '0.004';
      const end = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(end), endsOf(end)], [COMPLETED, [['errors', 'passed']]]);
    }, gatedBy()),
  );

  test(
    'that is let off lets no other gate off, which is measured to its end',
    inFleet(
      async (stack) => {
        stack.world.meter.shows = (query) => (query === 'slow' ? '9' : 'NaN');
        const onGates = { failed: 'pause', inconclusive: 'stop' } as const;
        const { others, rollout } = inTwoWaves(stack, { onGates }, { gates: ['errors', 'latency'] });
        await reaches(stack, rollout, 'paused');
        await decide(stack, rollout, 'resume', ANNE);
        const end = await endOfRollout(stack, rollout);
        assert.deepEqual([end.error?.type, begunOn(stack, others)], ['OutcomeUnknown', 0]);
        assert.deepEqual(endsOf(end), [
          ['errors', 'gave_up'],
          ['latency', 'overridden'],
        ]);
      },
      gatedBy({}, { latency: { ...ERRORS, query: 'slow', max: 1 } }),
    ),
  );

  test(
    'is let off by a person who resumes the rollout',
    inFleet(async (stack) => {
      const { rollout } = inTwoWaves(stack);
      await reaches(stack, rollout, 'paused');
      await decide(stack, rollout, 'resume', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), endsOf(result)], [COMPLETED, [['errors', 'overridden']]]);
      assert.equal(result.held[0]?.by, 'anne');
    }, gatedBy()),
  );

  test(
    'adds few events to the history, however long it stays so',
    inFleet(
      async (stack) => {
        const targets = servers(1);
        const waves = [{ name: 'all', targets, after: { gates: ['errors'] } }];
        const rollout = begin(stack, [], { waves, onGates: { patienceMs: 6 * 24 * HOUR } });
        await endOfRollout(stack, rollout);
        assert.ok(rollout.history.length < 5_000, `${rollout.history.length} events`);
      },
      gatedBy({ interval: 1_000, tries: 20 }),
    ),
  );
});
