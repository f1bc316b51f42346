/** A rollout in a freeze: it stops, or pauses and resumes by itself. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RolloutInput } from '../../../../src/features/rollouts/shapes.ts';
import { fresh } from '../../../support/fresh.ts';
import { outcomesOf, servers } from '../../../support/rollouts.ts';
import { endOfRollout, decide, progressOf, requestUpdate } from '../../plays/start-rollout.ts';
import { QUERIES, ROLLOUT_TYPE } from '../../../../src/contract/names.ts';
import type { Explanation } from '../../../../src/contract/waiting.ts';
import { eventsOf } from '../../stack/inspect.ts';
import { freezeNow, overriding, thawNow, unreadable } from '../../stack/freeze-now.ts';
import { MOMENT_MS, type StackOptions, type VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { ANNE, backsUp, backups, begin, deployments, inFleet, reaches } from './rollouts-in-flight.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const WAIT: Partial<RolloutInput> = { options: { ifFrozen: 'wait' } };

/** The first of three servers has its backup in progress, and then a freeze of everything begins. */
async function frozenMidway(stack: VirtualStack, forMs: number, more: Partial<RolloutInput> = {}) {
  const [first, ...others] = servers(3);
  const targets = [{ serverId: first.serverId }, ...others];
  stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
  const rollout = begin(stack, targets, { maxAtOnce: 1, ...more });
  await backsUp(stack, first.serverId);
  const freeze = freezeNow(stack.world.server, { forMs });
  stack.sandbox.finish({ server: first.serverId }, 'completed');
  return { rollout, others, freeze };
}

const actionsOf = (result: { decisions: { action: string; by: string }[] }) =>
  result.decisions.map(({ action, by }) => `${action} by ${by}`);

const questions = (rollout: Run): number =>
  eventsOf(rollout, 'activityScheduled').filter(({ type }) => type === 'judgeFreezes').length;

const asksAboutSecond = ({ until }: VirtualStack, rollout: Run): Promise<unknown> =>
  until('its question', () => questions(rollout) === 2);

/** Takes no task of a rollout while it is busy. */
function busyWorker() {
  const late: (() => void)[] = [];
  let isBusy = false;
  const options: StackOptions = {
    gate: {
      pass(it, goOn) {
        if (isBusy && it.kind === 'task' && it.run.type === ROLLOUT_TYPE) late.push(goOn);
        else goOn();
      },
    },
  };
  const begin = () => void (isBusy = true);
  const end = () => {
    isBusy = false;
    for (const goOn of late.splice(0)) goOn();
  };
  return { options, begin, end };
}

describe('a rollout in a freeze', () => {
  test(
    'starts no more servers, ends Frozen, and none of them counts as a failure',
    inFleet(async (stack) => {
      const { rollout, others } = await frozenMidway(stack, HOUR);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
      assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Frozen']);
      assert.match(result.error?.message ?? '', /^stopped: server s\d+: frozen by "freeze:all"[^;]+$/);
      assert.deepEqual(actionsOf(result), ['stop by freeze:all']);
      for (const { serverId } of others) assert.equal(backups(stack, serverId), 0);
      assert.ok(result.targets.every(({ workflowId, outcome }) => (workflowId === null) === (outcome !== 'completed')));
    }),
  );

  for (const end of ['aborted', 'cancelled'] as const) {
    test(
      `can be ${end} while no worker can read a freeze, and then starts nothing`,
      inFleet(async (stack) => {
        const { rollout, others, freeze } = await frozenMidway(stack, HOUR, { maxFailures: 3 });
        unreadable(freeze);
        await stack.forward(MINUTE);
        if (end === 'aborted') await decide(stack, rollout, 'abort', ANNE);
        else stack.cancel(rollout);
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
        for (const { serverId } of others) assert.equal(backups(stack, serverId), 0);
      }),
    );
  }

  test(
    'starts no more servers if the run of one meets a freeze that began later',
    inFleet(async (stack) => {
      const [first, ...others] = servers(3);
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const rollout = begin(stack, [first, ...others], { maxAtOnce: 1, maxFailures: 3 });
      await backsUp(stack, first.serverId);
      const freeze = freezeNow(stack.world.server, { forMs: HOUR });
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      await stack.until('the stop', () => freeze.closedMs !== null || rollout.closedMs !== null);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['not_started', 'not_started', 'not_started']);
      assert.deepEqual([result.error?.type, ...actionsOf(result)], ['Frozen', 'stop by freeze']);
      for (const { serverId } of others) assert.equal(backups(stack, serverId), 0);
    }),
  );

  test(
    'that waits pauses, resumes by itself within a minute after the end, and completes',
    inFleet(async (stack) => {
      const { rollout } = await frozenMidway(stack, HOUR, WAIT);
      await reaches(stack, rollout, 'paused');
      const endsMs = stack.world.server.find('freeze:all')!.startedMs + HOUR;
      const { waiting } = await progressOf(stack, rollout);
      assert.equal(waiting?.kind, 'freeze');
      const metadata = await stack.query<{ currentDetails: string }>(
        rollout.workflowId,
        '__temporal_workflow_metadata',
      );
      assert.doesNotMatch(metadata.currentDetails, /rollout resume/);
      assert.match(metadata.currentDetails, /waits for the end of a freeze, and then resumes by itself/);
      await reaches(stack, rollout, 'running', 2);
      const lateMs = stack.world.clock.nowMs - endsMs;
      assert.ok(lateMs >= 0 && lateMs <= 61_000, `${lateMs}`);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'completed', 'completed']);
      assert.deepEqual(actionsOf(result), ['pause by freeze:all', 'resume by freeze:all']);
      assert.deepEqual(
        result.held.map(({ name, end }) => [name, end]),
        [['freeze:all', 'passed']],
      );
    }),
  );

  test(
    'that waits is woken by a thaw',
    inFleet(async (stack) => {
      const { rollout } = await frozenMidway(stack, 11 * HOUR, WAIT);
      await reaches(stack, rollout, 'paused');
      const thawedMs = stack.world.clock.nowMs;
      assert.deepEqual(await thawNow(stack.world.server), [rollout.workflowId]);
      await stack.forward(MOMENT_MS);
      const { sentence } = await stack.query<Explanation>(rollout.workflowId, QUERIES.why);
      assert.match(sentence, /^paused, frozen no more, looks again at 2026-.* \(UTC\): resumes by itself/);
      await reaches(stack, rollout, 'running', 2);
      assert.ok(stack.world.clock.nowMs - thawedMs < 2 * MINUTE);
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    }),
  );

  for (const onFailures of ['stop', 'pause'] as const) {
    test(
      `that waits starts no server after the end if too many failed meanwhile, and ${onFailures === 'stop' ? 'stops' : 'pauses for a decision'}`,
      inFleet(async (stack) => {
        const [deployed] = servers(1);
        const [first, second, third] = [fresh('s'), fresh('s'), deployed.serverId];
        for (const server of [first, second]) stack.sandbox.script({ server }, { ends: 'never' });
        const targets = [{ serverId: first }, { serverId: second }, deployed];
        const rollout = begin(stack, targets, { maxAtOnce: 2, maxFailures: 0, onFailures, ...WAIT });
        for (const server of [first, second]) await backsUp(stack, server);
        freezeNow(stack.world.server, { forMs: HOUR, backups: true });
        stack.sandbox.finish({ server: first }, 'completed');
        await reaches(stack, rollout, 'paused');
        stack.sandbox.finish({ server: second }, 'failed');
        await stack.forward(2 * HOUR);
        assert.equal(backups(stack, third), 0);
        const { decisions } = (await progressOf(stack, rollout)).result;
        assert.equal(actionsOf({ decisions }).at(-1), `${onFailures} by maxFailures`);
        if (onFailures === 'pause') await decide(stack, rollout, 'abort', ANNE);
        assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'failed', 'not_started']);
      }),
    );
  }

  test(
    'that is aborted during a look at the freeze no longer waits for it, whatever the look finds later',
    inFleet(async (stack) => {
      const [first, second, third] = [fresh('s'), fresh('s'), fresh('s')];
      for (const server of [first, second]) stack.sandbox.script({ server }, { ends: 'never' });
      const targets = [first, second, third].map((serverId) => ({ serverId }));
      const options: RolloutInput['options'] = { ...WAIT.options, backup: { tries: 500 } };
      const rollout = begin(stack, targets, { maxAtOnce: 2, options });
      for (const server of [first, second]) await backsUp(stack, server);
      const freeze = freezeNow(stack.world.server, { forMs: HOUR, backups: true });
      const { memo } = freeze;
      stack.sandbox.finish({ server: first }, 'completed');
      await reaches(stack, rollout, 'paused');
      unreadable(freeze);
      const asked = questions(rollout);
      await stack.until('another look', () => questions(rollout) > asked);
      await decide(stack, rollout, 'abort', ANNE);
      Object.defineProperty(freeze, 'memo', { value: memo });
      await stack.forward(2 * MINUTE);
      const { held } = (await progressOf(stack, rollout)).result;
      assert.deepEqual(
        held.map(({ name, end }) => [name, end]),
        [['freeze:all', 'cancelled']],
      );
      stack.sandbox.finish({ server: second }, 'completed');
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed', 'not_started']);
    }),
  );

  test(
    'that a person pauses meanwhile stays paused after the end, until a person resumes it',
    inFleet(async (stack) => {
      const { rollout, others } = await frozenMidway(stack, HOUR, WAIT);
      await reaches(stack, rollout, 'paused');
      await assert.rejects(() => decide(stack, rollout, 'resume', ANNE), /waits for the end of a freeze/);
      await decide(stack, rollout, 'pause', ANNE);
      await stack.forward(2 * HOUR);
      assert.equal((await progressOf(stack, rollout)).waiting?.kind, 'decision');
      assert.equal(backups(stack, others[0]?.serverId), 0);
      await decide(stack, rollout, 'resume', ANNE);
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed', 'completed']);
    }),
  );

  test(
    'that waits is aborted at once',
    inFleet(async (stack) => {
      const { rollout } = await frozenMidway(stack, HOUR, WAIT);
      await reaches(stack, rollout, 'paused');
      await decide(stack, rollout, 'abort', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(
        [result.outcome, result.error?.type, result.held[0]?.end],
        ['cancelled', 'Cancelled', 'cancelled'],
      );
    }),
  );

  for (const end of ['aborted', 'cancelled'] as const) {
    const worker = busyWorker();
    test(
      `that is ${end} in the moment in which it learns of the freeze ends Cancelled, not Frozen`,
      inFleet(async (stack) => {
        const { rollout } = await frozenMidway(stack, HOUR);
        await asksAboutSecond(stack, rollout);
        worker.begin();
        await stack.forward(MOMENT_MS);
        if (end === 'aborted') requestUpdate(stack.world.server, rollout, 'abort', ANNE);
        else stack.cancel(rollout);
        worker.end();
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
        assert.deepEqual(actionsOf(result), [end === 'aborted' ? 'abort by anne' : 'abort by Temporal']);
        assert.deepEqual([result.outcome, result.error?.type], ['cancelled', 'Cancelled']);
      }, worker.options),
    );
  }

  for (const [ifFrozen, outcomes] of [
    ['wait', ['completed', 'completed', 'completed']],
    ['fail', ['completed', 'not_started', 'not_started']],
  ] as const) {
    const worker = busyWorker();
    test(
      `that a person pauses in the moment in which it learns of the freeze stays paused until a person resumes it, if it is to ${ifFrozen}`,
      inFleet(async (stack) => {
        const { rollout, others } = await frozenMidway(stack, 2 * HOUR, { options: { ifFrozen } });
        await asksAboutSecond(stack, rollout);
        worker.begin();
        await stack.forward(MOMENT_MS);
        requestUpdate(stack.world.server, rollout, 'pause', ANNE);
        worker.end();
        await stack.forward(ifFrozen === 'wait' ? 3 * HOUR : HOUR);
        const { result, waiting } = await progressOf(stack, rollout);
        assert.deepEqual([actionsOf(result), waiting?.kind], [['pause by anne'], 'decision']);
        assert.equal(backups(stack, others[0]?.serverId), 0);
        await decide(stack, rollout, 'resume', ANNE);
        assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), outcomes);
      }, worker.options),
    );
  }

  test(
    'that may not wait as long as the freeze lasts stops at once',
    inFleet(async (stack) => {
      const options: RolloutInput['options'] = { ifFrozen: 'wait', freezeWaitMs: MINUTE };
      const { rollout } = await frozenMidway(stack, HOUR, { options });
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Frozen']);
      assert.match(result.error?.message ?? '', /this is longer than --freeze-wait 1m allows/);
    }),
  );

  test(
    'goes if it overrides the freeze, and tells each run who decided',
    inFleet(async (stack) => {
      freezeNow(stack.world.server);
      const [first] = servers(1);
      const result = await endOfRollout(stack, begin(stack, [first], overriding('freeze:all')));
      assert.equal(result.outcome, 'completed', JSON.stringify(result.error));
      assert.equal(deployments(stack, first.siteIds[0]), 1);
      assert.deepEqual([result.held[0]?.end, result.held[0]?.by], ['overridden', 'ana']);
    }),
  );

  test(
    'goes on without a freeze that it overrides and that ends meanwhile',
    inFleet(async (stack) => {
      freezeNow(stack.world.server);
      const [first, second] = servers(2);
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const rollout = begin(stack, [first, second!], { maxAtOnce: 1, ...overriding('freeze:all') });
      await backsUp(stack, first.serverId);
      await thawNow(stack.world.server);
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed']);
    }),
  );

  test(
    'lets its runs off the freeze that it overrides, and not off a later one under the same id',
    inFleet(async (stack) => {
      freezeNow(stack.world.server);
      const [first] = servers(1);
      const rollout = begin(stack, [first], overriding('freeze:all'));
      await stack.until('its run', () => eventsOf(rollout, 'childInitiated').length > 0);
      await thawNow(stack.world.server);
      freezeNow(stack.world.server);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([result.error?.type, deployments(stack, first.siteIds[0])], ['Frozen', 0]);
    }),
  );

  test(
    'is retried although the freeze that it overrode is gone',
    inFleet(async (stack) => {
      const [first, second] = servers(2);
      const rollout = begin(stack, [first, second!], { attempt: 2, previousResults: [], ...overriding('christmas') });
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([outcomesOf(result), result.held], [['completed', 'completed'], []]);
    }),
  );

  test(
    'begins nothing if it overrides a freeze that there is not',
    inFleet(async (stack) => {
      const [first] = servers(1);
      const result = await endOfRollout(stack, begin(stack, [first], overriding('other')));
      assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Usage']);
      assert.equal(backups(stack, first.serverId), 0);
    }),
  );
});
