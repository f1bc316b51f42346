/** A rollout with gates between its waves: they pass, or they fail. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { outcomesOf, servers } from '../../../support/rollouts.ts';
import { decide, endOfRollout, progressOf } from '../../plays/start-rollout.ts';
import { phasesOf } from '../../stack/inspect.ts';
import { actionsOf, begunOn, endsOf, ERRORS, gatedBy, HOUR, inTwoWaves, measured, MINUTE } from './gated.ts';
import { ANNE, begin, deliver, inFleet, reaches } from './rollouts-in-flight.ts';

const COMPLETED = ['completed', 'completed', 'completed'];

describe('a rollout with a gate after a wave', () => {
  test(
    'bakes, measures until enough are good in a row, and starts the next wave only then',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = () => '0.004';
      const after = { bakeMs: 15 * MINUTE, gates: ['errors'] };
      const { canary, others, rollout } = inTwoWaves(stack, {}, after);
      await reaches(stack, rollout, 'gate');
      const bakedFromMs = stack.world.clock.nowMs;
      const { waiting } = await progressOf(stack, rollout);
      assert.ok(waiting?.kind === 'gate' && waiting.bakesUntil !== null);
      await measured(stack, 4);
      assert.ok(meter.asked[0]!.atMs - bakedFromMs >= 15 * MINUTE - 1_000);
      const { waiting: then } = await progressOf(stack, rollout);
      assert.ok(then?.kind === 'gate');
      assert.deepEqual(
        [then.bakesUntil, then.gates[0]?.goodInARow, then.gates[0]?.last],
        [null, 3, '0.004 (max 0.01)'],
      );
      assert.deepEqual([begunOn(stack, [canary]), begunOn(stack, others)], [1, 0]);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), meter.asked.length], [COMPLETED, 5]);
      assert.deepEqual([endsOf(result), actionsOf(result)], [[['errors', 'passed']], []]);
      assert.equal(meter.asked[0]?.query, `errors{host=~"${canary.serverId}"}`);
    }, gatedBy()),
  );

  test(
    'fails with GateFailed after a bad measurement, and starts no more servers',
    inFleet(async (stack) => {
      stack.world.meter.shows = (_query, index) => (index < 4 ? '0.004' : '0.03');
      const { others, rollout } = inTwoWaves(stack);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([result.outcome, result.error?.type], ['failed', 'GateFailed']);
      assert.match(result.error?.message ?? '', /gate errors after wave canary failed: 0\.03 > 0\.01/);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
      assert.deepEqual([actionsOf(result), endsOf(result)], [['stop by gate:errors'], [['errors', 'failed']]]);
      assert.equal(begunOn(stack, others), 0);
    }, gatedBy()),
  );

  test(
    'allows as many bad measurements as failures says, but each of them breaks the row',
    inFleet(
      async (stack) => {
        const { meter } = stack.world;
        meter.shows = (_query, index) => (index === 3 ? '0.03' : '0.004');
        const result = await endOfRollout(stack, inTwoWaves(stack).rollout);
        assert.deepEqual([outcomesOf(result), meter.asked.length], [COMPLETED, 9]);
      },
      gatedBy({ failures: 1 }),
    ),
  );

  for (const [what, shows] of [
    ['one of two series is', { good: '0.001', poor: '0.5' }],
    ['an infinity is', '+Inf'],
  ] as const) {
    test(
      `fails if ${what} beyond its limit`,
      inFleet(async (stack) => {
        stack.world.meter.shows = () => shows;
        const result = await endOfRollout(stack, inTwoWaves(stack).rollout);
        assert.equal(result.error?.type, 'GateFailed');
        const shown = typeof shows === 'string' ? /\+Inf > 0\.01/ : /0\.5 > 0\.01 of \{instance="poor"\}/;
        assert.match(result.error.message, shown);
      }, gatedBy()),
    );
  }

  test(
    'judges the last wave too, and fails although every server completed',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => '0.03';
      const targets = servers(2);
      const waves = [{ name: 'all', targets, after: { gates: ['errors'] } }];
      const result = await endOfRollout(stack, begin(stack, [], { waves }));
      assert.deepEqual(outcomesOf(result), ['completed', 'completed']);
      assert.deepEqual([result.outcome, result.error?.type], ['failed', 'GateFailed']);
    }, gatedBy()),
  );

  test(
    'pauses after a failed gate if it is to, measures no more, and goes on once a person resumes it',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = () => '0.03';
      const { others, rollout } = inTwoWaves(stack, { onGates: { failed: 'pause' } });
      await reaches(stack, rollout, 'paused');
      await stack.forward(30 * HOUR);
      assert.deepEqual([meter.asked.length, begunOn(stack, others)], [1, 0]);
      const { waiting } = await progressOf(stack, rollout);
      assert.ok(waiting?.kind === 'decision' && waiting.by === 'gate:errors');
      await decide(stack, rollout, 'resume', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), endsOf(result)], [COMPLETED, [['errors', 'overridden']]]);
      assert.deepEqual(actionsOf(result), ['pause by gate:errors', 'resume by anne']);
    }, gatedBy()),
  );

  test(
    'is not resumed after a failed gate by a person who ends an earlier pause',
    inFleet(async (stack) => {
      stack.world.meter.shows = (_query, index) => (index < 4 ? '0.004' : '0.03');
      const { others, rollout } = inTwoWaves(stack, { onGates: { failed: 'pause' } });
      await measured(stack, 2);
      await decide(stack, rollout, 'pause', { by: 'anne', reason: 'lunch' });
      await measured(stack, 5);
      await decide(stack, rollout, 'resume', { by: 'anne', reason: 'lunch is over' });
      await reaches(stack, rollout, 'paused', 2);
      await stack.forward(HOUR);
      assert.equal(begunOn(stack, others), 0);
      await decide(stack, rollout, 'resume', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), endsOf(result)], [COMPLETED, [['errors', 'overridden']]]);
    }, gatedBy()),
  );

  for (const what of ['aborted', 'cancelled'] as const) {
    const end = (stack: Parameters<typeof decide>[0], rollout: Parameters<typeof decide>[1]) =>
      what === 'aborted' ? decide(stack, rollout, 'abort', ANNE) : Promise.resolve(stack.cancel(rollout));

    test(
      `fails with GateFailed if it is ${what} while it is paused for a failed gate`,
      inFleet(async (stack) => {
        stack.world.meter.shows = () => '0.03';
        const { others, rollout } = inTwoWaves(stack, { onFailures: 'pause' });
        await reaches(stack, rollout, 'paused');
        await end(stack, rollout);
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual([result.outcome, result.error?.type], ['failed', 'GateFailed']);
        assert.equal(begunOn(stack, others), 0);
      }, gatedBy()),
    );

    test(
      `measures nothing if it is ${what} while a wave bakes`,
      inFleet(async (stack) => {
        const after = { bakeMs: HOUR, gates: ['errors'] };
        const { others, rollout } = inTwoWaves(stack, {}, after);
        await reaches(stack, rollout, 'gate');
        await end(stack, rollout);
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual([result.outcome, result.error?.type], ['cancelled', 'Cancelled']);
        assert.deepEqual([stack.world.meter.asked.length, begunOn(stack, others)], [0, 0]);
      }, gatedBy()),
    );
  }

  test(
    'notes what a gate of a dry run would have done, and goes on',
    inFleet(
      async (stack) => {
        stack.world.meter.shows = () => '0.03';
        const result = await endOfRollout(stack, inTwoWaves(stack).rollout);
        assert.deepEqual([outcomesOf(result), endsOf(result)], [COMPLETED, []]);
        assert.deepEqual(actionsOf(result), ['note by gate:errors']);
        assert.match(result.decisions[0]?.reason ?? '', /would have failed: 0\.03 > 0\.01/);
      },
      gatedBy({ dryRun: true }),
    ),
  );

  test(
    'measures its gates side by side, and the worst one decides',
    inFleet(
      async (stack) => {
        stack.world.meter.shows = (query) => (query === 'slow' ? '9' : '0.001');
        const result = await endOfRollout(stack, inTwoWaves(stack, {}, { gates: ['errors', 'latency'] }).rollout);
        assert.deepEqual(endsOf(result), [
          ['errors', 'cancelled'],
          ['latency', 'failed'],
        ]);
        assert.match(result.error?.message ?? '', /gate latency after wave canary failed: 9 > 1/);
      },
      gatedBy({}, { latency: { ...ERRORS, query: 'slow', max: 1 } }),
    ),
  );

  test(
    'counts $seconds from the start of the wave if it made only backups',
    inFleet(
      async (stack) => {
        stack.world.meter.shows = () => '0.001';
        const targets = servers(1).map(({ serverId }) => ({ serverId }));
        const waves = [{ name: 'all', targets, after: { bakeMs: MINUTE, gates: ['errors'] } }];
        assert.equal((await endOfRollout(stack, begin(stack, [], { waves }))).outcome, 'completed');
        const seconds = Number(/\[(\d+)s\]/.exec(stack.world.meter.asked[0]?.query ?? '')?.[1]);
        assert.ok(seconds >= 120, `${seconds} s`);
      },
      gatedBy({ query: 'rate(errors[${seconds}s])' }),
    ),
  );

  test(
    'judges its gates although a server failed, if that many may',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => '0.001';
      const { canary, rollout } = inTwoWaves(stack, { maxFailures: 1 });
      stack.sandbox.script({ site: canary.siteIds[0]! }, { ends: 'failed' });
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['failed', 'completed', 'completed']);
      assert.deepEqual(endsOf(result), [['errors', 'passed']]);
    }, gatedBy()),
  );

  test(
    'holds a server of the next wave for an alert that comes while a wave bakes',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => '0.001';
      const after = { bakeMs: 10 * MINUTE, gates: ['errors'] };
      const { others, rollout } = inTwoWaves(stack, {}, after);
      await reaches(stack, rollout, 'gate');
      deliver(stack, 'alert.fired', others[0]?.serverId);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'completed']);
      assert.match(actionsOf(result)[0] ?? '', /^hold by event:/);
    }, gatedBy()),
  );

  test(
    'that a person pauses while a wave bakes stays paused although its gates pass',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => '0.001';
      const { others, rollout } = inTwoWaves(stack, {}, { gates: ['errors'] });
      await reaches(stack, rollout, 'gate');
      await decide(stack, rollout, 'pause', ANNE);
      await stack.forward(HOUR);
      assert.deepEqual([stack.world.meter.asked.length, begunOn(stack, others)], [5, 0]);
      await decide(stack, rollout, 'resume', ANNE);
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), COMPLETED);
    }, gatedBy()),
  );

  for (const [what, gate] of [
    ['the worker has no such gate', {}],
    ['its address is not there', { prometheus: { env: 'BELAY_TEST_NO_SUCH_VARIABLE' } }],
    ['its token is not there', { token: { file: '/no/such/file' } }],
    ['no host of the wave is known', { query: 'up{host=~"$hosts"}' }],
  ] as const) {
    test(
      `starts no server if ${what}`,
      inFleet(async (stack) => {
        const name = Object.keys(gate).length === 0 ? 'other' : 'errors';
        const { canary, others, rollout } = inTwoWaves(stack, {}, { gates: [name] });
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Refused'], result.error?.message);
        assert.equal(begunOn(stack, [canary, ...others]), 0);
      }, gatedBy(gate)),
    );
  }

  test(
    'only bakes if a wave names no gate',
    inFleet(async (stack) => {
      const waves = servers(2).map((target, index) => ({
        name: `w${index}`,
        targets: [target],
        after: { bakeMs: HOUR },
      }));
      const rollout = begin(stack, [], { waves });
      const result = await endOfRollout(stack, rollout);
      assert.equal(result.outcome, 'completed');
      const baked = phasesOf(rollout).filter(({ phase }) => phase === 'gate');
      assert.equal(baked.length, 2);
      assert.ok(Date.parse(result.endedAt!) - Date.parse(result.startedAt!) >= 2 * HOUR);
    }),
  );
});
