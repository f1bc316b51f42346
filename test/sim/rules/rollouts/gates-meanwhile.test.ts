/** Gates of a rollout, while something else happens to it: freezes, people, held servers, lost workers, a retry. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextAttempt } from '../../../../src/features/rollouts/client.ts';
import type { Configuration } from '../../../../src/config/load.ts';
import { leavesRoomInRollout } from '../../../../src/contract/history-budget.ts';
import type { RolloutInput, RolloutResult } from '../../../../src/features/rollouts/shapes.ts';
import { outcomesOf, servers } from '../../../support/rollouts.ts';
import { decide, endOfRollout, progressOf, startRollout } from '../../plays/start-rollout.ts';
import { MAX_TARGETS } from '../../../../src/request/limits.ts';
import { resultOf } from '../../plays/record.ts';
import { freezeNow } from '../../stack/freeze-now.ts';
import { phasesOf, startInput } from '../../stack/inspect.ts';
import type { VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { answer, isAsking } from '../runs/approvals/answers.ts';
import { actionsOf, begunOn, endsOf, ERRORS, gatedBy, HOUR, inTwoWaves, measured, MINUTE } from './gated.ts';
import { ANNE, backsUp, begin, hold, inFleet, reaches } from './rollouts-in-flight.ts';

const SECOND = 1_000;
/** Temporal takes 10,000 of them. */
const SIGNALS_AT_ONCE = 9;
const COMPLETED = ['completed', 'completed', 'completed'];
const WAVES = 4;
const GATES = ['errors', 'latency', 'load', 'queue', 'memory'];
const GATED = { gates: ['errors'] };
const AUDIT: Configuration = { approvals: { audit: { proof: 'none', for: { sites: ['no-site'] } } } };

describe('a gate', () => {
  test(
    'is judged in a freeze that begins while its wave bakes, and the next wave waits for the end of the freeze',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => '0.001';
      const after = { bakeMs: HOUR, ...GATED };
      const { others, rollout } = inTwoWaves(stack, { options: { ifFrozen: 'wait' } }, after);
      await reaches(stack, rollout, 'gate');
      freezeNow(stack.world.server, { forMs: 3 * HOUR });
      await reaches(stack, rollout, 'paused');
      assert.deepEqual([stack.world.meter.asked.length, begunOn(stack, others)], [5, 0]);
      assert.equal((await progressOf(stack, rollout)).waiting?.kind, 'freeze');
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), stack.world.meter.asked.length], [COMPLETED, 5]);
      assert.deepEqual(actionsOf(result), ['pause by freeze:all', 'resume by freeze:all']);
      assert.deepEqual(endsOf(result), [
        ['errors', 'passed'],
        ['freeze:all', 'passed'],
      ]);
    }, gatedBy()),
  );

  describe('in a retry', () => {
    test(
      'is measured for a wave in which the retry begins something, and not for one that passed and is completed',
      inFleet(async (stack) => {
        const { meter } = stack.world;
        meter.shows = () => '0.001';
        const [canary, failing, last] = servers(3);
        const waves = [
          { name: 'canary', targets: [canary], after: GATED },
          { name: 'rest', targets: [failing!, last!], after: GATED },
        ];
        const [siteId] = failing!.siteIds;
        stack.sandbox.script({ site: siteId! }, { ends: 'failed' }, { ends: 'completed' });
        const rollout = begin(stack, [], { waves, maxFailures: 1 });
        const first = await endOfRollout(stack, rollout);
        assert.deepEqual([outcomesOf(first), meter.asked.length], [['completed', 'failed', 'completed'], 10]);
        const again = await retry(stack, rollout);
        assert.deepEqual([again.outcome, again.attempt, meter.asked.length], ['completed', 2, 15]);
        assert.deepEqual(
          again.held.map(({ why, end }) => [why, end]),
          [['after wave rest', 'passed']],
        );
      }, gatedBy()),
    );

    test(
      'that failed is measured first, and the next wave starts once it passes',
      inFleet(
        async (stack) => {
          const { meter } = stack.world;
          meter.shows = () => '0.5';
          const { canary, others, rollout } = inTwoWaves(stack, {}, { gates: ['errors', 'sites'] });
          assert.equal((await endOfRollout(stack, rollout)).error?.type, 'GateFailed');
          meter.shows = () => '0.001';
          meter.asked.length = 0;
          const again = await retry(stack, rollout);
          assert.deepEqual([outcomesOf(again), meter.asked.length], [COMPLETED, 10]);
          assert.deepEqual(
            new Set(meter.asked.map(({ query }) => query)),
            new Set([`errors{host=~"${canary.serverId}"}`, `slow{site=~"${canary.siteIds[0]!}"}`]),
          );
          assert.deepEqual(again.passedWaves, ['canary']);
          assert.deepEqual([begunOn(stack, [canary]), begunOn(stack, others)], [1, 2]);
        },
        gatedBy({}, { sites: { ...ERRORS, query: 'slow{site=~"$sites"}' } }),
      ),
    );

    test(
      'that failed and fails again ends it with GateFailed, and no server of a later wave starts',
      inFleet(async (stack) => {
        stack.world.meter.shows = () => '0.5';
        const { others, rollout } = inTwoWaves(stack);
        await endOfRollout(stack, rollout);
        const again = await retry(stack, rollout);
        assert.deepEqual([again.outcome, again.error?.type, again.attempt], ['failed', 'GateFailed', 2]);
        const third = await retry(stack, latest(stack, rollout));
        assert.deepEqual([third.outcome, third.error?.type, third.attempt], ['failed', 'GateFailed', 3]);
        assert.equal(begunOn(stack, others), 0);
      }, gatedBy()),
    );

    test(
      'that could not be judged is measured again, also if a person aborted the rollout meanwhile',
      inFleet(async (stack) => {
        const { meter } = stack.world;
        meter.shows = () => 'NaN';
        const { others, rollout } = inTwoWaves(stack);
        await reaches(stack, rollout, 'paused');
        await decide(stack, rollout, 'abort', ANNE);
        await endOfRollout(stack, rollout);
        meter.asked.length = 0;
        const again = startRetry(stack, rollout);
        await stack.until('20 measurements', () => meter.asked.length === 20);
        await reaches(stack, again, 'paused');
        assert.equal(begunOn(stack, others), 0);
        meter.shows = () => '0.001';
        assert.deepEqual(outcomesOf(await endOfRollout(stack, again)), COMPLETED);
      }, gatedBy()),
    );

    test(
      'of the last wave is measured although every server is completed',
      inFleet(async (stack) => {
        const { meter } = stack.world;
        meter.shows = () => '0.5';
        const rollout = begin(stack, [], { waves: [{ name: 'all', targets: servers(2), after: GATED }] });
        assert.equal((await endOfRollout(stack, rollout)).error?.type, 'GateFailed');
        meter.shows = () => '0.001';
        const again = await retry(stack, rollout);
        assert.deepEqual([again.outcome, again.attempt, meter.asked.length], ['completed', 2, 6]);
        assert.deepEqual(attemptAfter(latest(stack, rollout), again).waves, []);
      }, gatedBy()),
    );

    test(
      'is not measured again once a person has let it off',
      inFleet(async (stack) => {
        const { meter } = stack.world;
        meter.shows = () => '0.5';
        const { others, rollout } = inTwoWaves(stack, { onGates: { failed: 'pause' } });
        stack.sandbox.script({ site: others[0]!.siteIds[0]! }, { ends: 'failed' }, { ends: 'completed' });
        await reaches(stack, rollout, 'paused');
        await decide(stack, rollout, 'resume', ANNE);
        const first = await endOfRollout(stack, rollout);
        assert.deepEqual([first.outcome, first.passedWaves], ['failed', ['canary']]);
        assert.deepEqual([(await retry(stack, rollout)).outcome, meter.asked.length], ['completed', 1]);
      }, gatedBy()),
    );

    test(
      'is measured although the only server that the retry was to begin in its wave is held',
      inFleet(async (stack) => {
        stack.world.meter.shows = () => '0.5';
        const [first, second, last] = servers(3);
        const waves = [
          { name: 'canary', targets: [first, second!], after: GATED },
          { name: 'rest', targets: [last!] },
        ];
        stack.sandbox.script({ site: second!.siteIds[0]! }, { ends: 'failed' });
        const more = { maxFailures: 1, onFailures: 'pause', onGates: { failed: 'stop' } } as const;
        const rollout = begin(stack, [], { waves, ...more });
        assert.equal((await endOfRollout(stack, rollout)).error?.type, 'GateFailed');
        const again = startRetry(stack, rollout);
        await hold(stack, again, second!.serverId);
        await reaches(stack, again, 'paused');
        await decide(stack, again, 'resume', ANNE);
        const result = await endOfRollout(stack, again);
        assert.deepEqual([result.error?.type, begunOn(stack, [last!])], ['GateFailed', 0]);
      }, gatedBy()),
    );
  });

  test(
    'passes before people are asked to approve the next wave',
    inFleet(
      async (stack) => {
        stack.world.meter.shows = () => '0.001';
        const [canary, ...others] = servers(3);
        const waves = [
          { name: 'canary', targets: [canary], after: GATED },
          { name: 'rest', approval: 'audit', targets: others },
        ];
        const rollout = begin(stack, [], { waves });
        await reaches(stack, rollout, 'gate');
        const question = await isAsking(stack, rollout);
        assert.deepEqual([question.plan.wave, stack.world.meter.asked.length], ['rest', 5]);
        assert.equal(begunOn(stack, others), 0);
        const yes = { plan: question.hash, by: 'anne', why: 'looked at it', proof: { kind: 'none' } };
        assert.equal(await answer(stack, rollout, 'approve', yes), null);
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual(outcomesOf(result), COMPLETED);
        assert.deepEqual(endsOf(result), [
          ['errors', 'passed'],
          ['audit', 'approved'],
        ]);
      },
      { configuration: { ...gatedBy().configuration, ...AUDIT } },
    ),
  );

  test(
    'that fails keeps people from being asked about the next wave',
    inFleet(
      async (stack) => {
        stack.world.meter.shows = () => '0.5';
        const [canary, ...others] = servers(3);
        const waves = [
          { name: 'canary', targets: [canary], after: GATED },
          { name: 'rest', approval: 'audit', targets: others },
        ];
        const rollout = begin(stack, [], { waves });
        assert.equal((await endOfRollout(stack, rollout)).error?.type, 'GateFailed');
        assert.deepEqual(
          phasesOf(rollout).filter(({ phase }) => phase === 'approval'),
          [],
        );
      },
      { configuration: { ...gatedBy().configuration, ...AUDIT } },
    ),
  );

  test(
    'is judged once a person has decided about a held server of its wave, and not before',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => '0.001';
      const [first, held, left] = servers(3);
      const waves = [
        { name: 'canary', targets: [first, held!], after: GATED },
        { name: 'rest', targets: [left!] },
      ];
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const rollout = begin(stack, [], { waves, maxAtOnce: 1, onFailures: 'pause' });
      await backsUp(stack, first.serverId);
      await hold(stack, rollout, held!.serverId);
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      await reaches(stack, rollout, 'paused');
      await stack.forward(HOUR);
      assert.equal(stack.world.meter.asked.length, 0);
      await decide(stack, rollout, 'resume', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'completed']);
      assert.deepEqual([endsOf(result), stack.world.meter.asked.length], [[['errors', 'passed']], 5]);
    }, gatedBy()),
  );

  test(
    'is judged although a held server is all that is left of the last wave',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = () => '0.5';
      const [first, held] = servers(2);
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const waves = [{ name: 'all', targets: [first, held!], after: GATED }];
      const rollout = begin(stack, [], { waves, maxAtOnce: 1 });
      await backsUp(stack, first.serverId);
      await hold(stack, rollout, held!.serverId);
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started']);
      assert.deepEqual([result.outcome, result.error?.type], ['failed', 'GateFailed']);
    }, gatedBy()),
  );

  describe('of a rollout that a person has paused', () => {
    for (const [what, shows, onGates, end] of [
      ['fails', '0.5', { failed: 'stop' }, ['failed', 'GateFailed']],
      ['loses its patience', 'NaN', {}, ['unknown', 'OutcomeUnknown']],
    ] as const) {
      test(
        `ends it only after the person has resumed it if it ${what}`,
        inFleet(async (stack) => {
          const { meter } = stack.world;
          meter.shows = () => 'NaN';
          const { others, rollout } = inTwoWaves(stack, { onGates });
          await (shows === 'NaN' ? reaches(stack, rollout, 'paused') : measured(stack, 2));
          await decide(stack, rollout, 'pause', ANNE);
          meter.shows = () => shows;
          await stack.forward(30 * HOUR);
          const { result } = await progressOf(stack, rollout);
          assert.deepEqual(
            [result.phase, actionsOf(result).slice(-2)],
            ['paused', ['pause by anne', 'note by gate:errors']],
          );
          await decide(stack, rollout, 'resume', ANNE);
          const ended = await endOfRollout(stack, rollout);
          assert.deepEqual([ended.outcome, ended.error?.type], end);
          assert.equal(begunOn(stack, others), 0);
        }, gatedBy()),
      );
    }

    test(
      'counts if the person aborts it',
      inFleet(async (stack) => {
        stack.world.meter.shows = (_query, index) => (index < 4 ? 'NaN' : '0.5');
        const { rollout } = inTwoWaves(stack, { onGates: { failed: 'stop' } });
        await measured(stack, 2);
        await decide(stack, rollout, 'pause', ANNE);
        await stack.forward(HOUR);
        await decide(stack, rollout, 'abort', ANNE);
        const { outcome, error } = await endOfRollout(stack, rollout);
        assert.deepEqual([outcome, error?.type], ['failed', 'GateFailed']);
      }, gatedBy()),
    );
  });

  test(
    'is measured no more once a person aborts the rollout',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => '0.001';
      const { others, rollout } = inTwoWaves(stack);
      await measured(stack, 3);
      await decide(stack, rollout, 'abort', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([result.outcome, endsOf(result)], ['cancelled', [['errors', 'cancelled']]]);
      assert.deepEqual([stack.world.meter.asked.length, begunOn(stack, others)], [3, 0]);
    }, gatedBy()),
  );

  test(
    'is measured on with its next try after the workers were away for an hour',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = () => '0.001';
      const { rollout } = inTwoWaves(stack);
      await measured(stack, 2);
      const leftMs = stack.world.clock.nowMs;
      stack.world.restartWorkers(HOUR);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), endsOf(result)], [COMPLETED, [['errors', 'passed']]]);
      assert.ok(meter.asked.every(({ atMs }) => atMs <= leftMs || atMs >= leftMs + HOUR));
      assert.ok(meter.asked.length <= 6, `${meter.asked.length}`);
    }, gatedBy()),
  );

  test(
    'whose wave bakes while the workers are away is measured as soon as they are back',
    inFleet(async (stack) => {
      const { meter } = stack.world;
      meter.shows = () => '0.001';
      const after = { bakeMs: 15 * MINUTE, ...GATED };
      const { rollout } = inTwoWaves(stack, {}, after);
      await reaches(stack, rollout, 'gate');
      const leftMs = stack.world.clock.nowMs;
      stack.world.restartWorkers(HOUR);
      await measured(stack, 1);
      assert.ok(meter.asked[0]!.atMs - leftMs - HOUR < 2 * MINUTE);
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), COMPLETED);
    }, gatedBy()),
  );

  test(
    'is measured no more once the history of its rollout has room only for the servers that are left',
    inFleet(
      async (stack) => {
        const { meter } = stack.world;
        meter.shows = () => '0.001';
        const [canary, ...others] = servers(MAX_TARGETS);
        const waves = [
          { name: 'canary', targets: [canary], after: GATED },
          { name: 'rest', targets: others },
        ];
        const rollout = begin(stack, [], { waves });
        await measured(stack, 2);
        while (leavesRoomInRollout(rollout.history.length, others.length)) {
          for (let sent = 0; sent < SIGNALS_AT_ONCE; sent += 1) stack.signal(rollout.workflowId, 'unknown', {});
          await stack.forward(SECOND);
        }
        await stack.forward(3 * HOUR);
        assert.deepEqual([meter.asked.length, begunOn(stack, others)], [2, 0]);
        const { phase, decisions } = (await progressOf(stack, rollout)).result;
        assert.equal(phase, 'paused');
        assert.match(decisions.at(-1)?.reason ?? '', /no longer measured: the history of the rollout is long/);
      },
      gatedBy({ interval: HOUR }),
    ),
  );

  test(
    'adds at most six events for each measurement to a rollout in which each server adds fifteen',
    inFleet(
      async (stack) => {
        stack.world.meter.shows = () => '0.001';
        const [few, more] = [await eventsOfFleet(stack, 20), await eventsOfFleet(stack, 40)];
        const measurements = WAVES * GATES.length * 5;
        assert.equal(stack.world.meter.asked.length, 2 * measurements);
        const perServer = (more - few) / 20;
        const ofGates = few - 20 * perServer;
        assert.ok(perServer <= 15 && ofGates <= 6 * measurements, `${few} events, then ${more}`);
      },
      gatedBy({}, Object.fromEntries(GATES.map((name) => [name, { ...ERRORS, query: name }]))),
    ),
  );
});

/** The attempt that follows, as `belay rollout retry` makes it. */
const attemptAfter = (rollout: Run, { targets, passedWaves }: RolloutResult): RolloutInput =>
  nextAttempt(startInput<RolloutInput>(rollout), { targets, passedWaves }, { epoch: '1' });

function startRetry(stack: VirtualStack, rollout: Run): Run {
  const result = resultOf<RolloutResult>(rollout.outcome);
  assert.ok(result !== null);
  return startRollout(stack.world.server, attemptAfter(rollout, result));
}

const retry = (stack: VirtualStack, rollout: Run): Promise<RolloutResult> =>
  endOfRollout(stack, startRetry(stack, rollout));

/** The last attempt. */
const latest = ({ world }: VirtualStack, { workflowId }: Run): Run => world.server.find(workflowId)!;

async function eventsOfFleet(stack: VirtualStack, count: number): Promise<number> {
  const targets = servers(count).map(({ serverId }) => ({ serverId }));
  const size = count / WAVES;
  const waves = Array.from({ length: WAVES }, (_, index) => ({
    ...{ name: `w${index}`, targets: targets.slice(size * index, size * (index + 1)) },
    after: { gates: GATES },
  }));
  const rollout = begin(stack, [], { waves, maxAtOnce: 5 });
  assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
  return rollout.history.length;
}
