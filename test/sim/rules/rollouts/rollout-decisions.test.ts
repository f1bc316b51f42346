/** What a rollout does about failures and about the decisions of users. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rolloutPauseId } from '../../../../src/contract/ids.ts';
import { outcomesOf, servers } from '../../../support/rollouts.ts';
import { MOMENT_MS, type VirtualStack } from '../../stack/stack.ts';
import { decide, endOfRollout, progressOf, refusalOf, type DecisionName } from '../../plays/start-rollout.ts';
import type { Run } from '../../temporal/types.ts';
import { ANNE, backsUp, backups, begin, deployments, inFleet, reaches } from './rollouts-in-flight.ts';

const fail = ({ sandbox }: VirtualStack, siteId = '') =>
  sandbox.script({ site: siteId }, { durationMs: 30_000, ends: 'failed' });

/** A rollout of three servers, two at once, whose first two deployments stay in progress. */
async function deploying(stack: VirtualStack) {
  const targets = servers(3);
  const [first, second] = targets.map(({ siteIds }) => siteIds[0]!) as [string, string];
  for (const site of [first, second]) stack.sandbox.script({ site }, { ends: 'never' });
  const rollout = begin(stack, targets, { maxAtOnce: 2 });
  await stack.until('the deployments', () => deployments(stack, first) + deployments(stack, second) === 2);
  const finish = async () => {
    stack.sandbox.finish({ site: first }, 'completed');
    await stack.until('its end', () => rollout.history.some(({ kind }) => kind === 'childClosed'));
    // One more could begin.
    await stack.forward(60_000);
    stack.sandbox.finish({ site: second }, 'completed');
  };
  return { rollout, finish, next: targets[2]!.serverId };
}

describe('a rollout', () => {
  test(
    'pauses for a decision, records it in its history, and continues when resumed',
    inFleet(async (stack) => {
      const targets = servers(3);
      fail(stack, targets[0].siteIds[0]);
      const rollout = begin(stack, targets, { maxAtOnce: 1, onFailures: 'pause' });
      await reaches(stack, rollout, 'paused');
      const { waiting } = await progressOf(stack, rollout);
      assert.ok(waiting?.kind === 'decision');
      assert.match(waiting.reason, /^too many servers are not completed: 1 \(at most 0 allowed\)$/);
      await stack.forward(24 * 3_600_000);
      assert.equal(backups(stack, targets[1]?.serverId), 0);
      await decide(stack, rollout, 'resume', { by: 'anne', reason: 'known, goes away tomorrow' });
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['failed', 'completed', 'completed']);
      const [, resumed] = result.decisions;
      assert.deepEqual(
        [resumed?.action, resumed?.by, resumed?.reason],
        ['resume', 'anne', 'known, goes away tomorrow'],
      );
    }),
  );

  test(
    'is paused by a decision that arrives before a worker has checked its request',
    inFleet(async (stack) => {
      const targets = servers(2);
      const rollout = begin(stack, targets);
      await decide(stack, rollout, 'pause', ANNE);
      assert.ok(!rollout.history.some(({ kind }) => kind === 'childInitiated'), 'it came too late for this test');
      await stack.forward(3_600_000);
      for (const { serverId } of targets) assert.equal(backups(stack, serverId), 0);
      await decide(stack, rollout, 'resume', ANNE);
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed']);
    }),
  );

  test(
    'refuses a resume that comes together with the answer about its request',
    inFleet(async (stack) => {
      const rollout = begin(stack, servers(1));
      await stack.until('the answer', () => rollout.history.some(({ kind }) => kind === 'activityClosed'));
      assert.equal(await refusalOf(stack, rollout, 'resume', ANNE), 'Usage: the rollout is not paused');
      assert.ok(
        rollout.history.some(({ kind }) => kind === 'updateCompleted'),
        'it came too late for this test',
      );
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed']);
    }),
  );

  test(
    'pauses again if more than maxFailures servers fail after a resume',
    inFleet(async (stack) => {
      const targets = servers(3);
      for (const { siteIds } of targets) fail(stack, siteIds[0]);
      const rollout = begin(stack, targets, { maxAtOnce: 1, onFailures: 'pause' });
      await reaches(stack, rollout, 'paused');
      await decide(stack, rollout, 'resume', ANNE);
      await reaches(stack, rollout, 'paused', 2);
      assert.equal((await progressOf(stack, rollout)).result.decisions.length, 3);
      await decide(stack, rollout, 'abort', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['failed', 'failed', 'not_started']);
      assert.match(result.error?.message ?? '', /^aborted by anne: the shop is slow; server s\d+: /);
    }),
  );

  test(
    'lets running servers finish and starts none while it is paused',
    inFleet(async (stack) => {
      const { rollout, finish, next } = await deploying(stack);
      await decide(stack, rollout, 'pause', ANNE);
      await finish();
      await stack.forward(24 * 3_600_000);
      const { result } = await progressOf(stack, rollout);
      assert.deepEqual([result.servers.completed, result.phase, backups(stack, next)], [2, 'paused', 0]);
      await decide(stack, rollout, 'resume', ANNE);
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    }),
  );

  test(
    'rejects a decision with a field that it does not take, which could be the server that is meant',
    inFleet(async (stack) => {
      const rollout = begin(stack, servers(2), { maxAtOnce: 1 });
      await decide(stack, rollout, 'pause', ANNE);
      const refused = async (name: DecisionName, decision: unknown, message: string) =>
        assert.equal(await refusalOf(stack, rollout, name, decision), `Usage: ${message}`);
      const serverID = { ...ANNE, serverID: 's1' };
      await refused('resume', serverID, 'serverID: is not a field of resume: use by, reason, serverId');
      await refused('abort', { ...ANNE, serverId: 's1' }, 'serverId: is not a field of abort: use by, reason');
      assert.equal((await progressOf(stack, rollout)).result.phase, 'paused');
    }),
  );

  test(
    'refuses a decision whose server is no text, even before a worker has checked its request',
    inFleet(async (stack) => {
      const rollout = begin(stack, servers(1));
      for (const serverId of [null, 12, {}, { toString: null }])
        assert.equal(
          await refusalOf(stack, rollout, 'resume', { ...ANNE, serverId }),
          'Usage: serverId: is not an id: name the server to release, or leave it out to resume the rollout',
        );
      assert.ok(!rollout.history.some(({ kind }) => kind === 'childInitiated'), 'it came too late for this test');
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    }),
  );

  test(
    'rejects a decision without a name or out of order, and explains why',
    inFleet(async (stack) => {
      const [target] = servers(1);
      stack.sandbox.script({ server: target.serverId }, { ends: 'never' });
      const rollout = begin(stack, [target]);
      await backsUp(stack, target.serverId);
      const refused = async (name: DecisionName, decision: unknown, message: RegExp) => {
        const before = rollout.history.length;
        assert.match((await refusalOf(stack, rollout, name, decision)) ?? 'accepted', message);
        assert.equal(rollout.history.length, before, 'a refusal leaves a trace in history');
      };
      await refused('pause', { by: 'anne', reason: ' ' }, /^Usage: give your name and a reason/);
      await refused('resume', ANNE, /^Usage: the rollout is not paused/);
      await refused('resume', { ...ANNE, serverId: target.serverId }, /^Usage: server s\d+ is not held/);
      await decide(stack, rollout, 'pause', ANNE);
      await refused('pause', ANNE, /^Usage: the rollout is already paused/);
      await decide(stack, rollout, 'abort', ANNE);
      await refused('resume', ANNE, /^Usage: the rollout starts no more servers/);
      stack.sandbox.finish({ server: target.serverId }, 'completed');
      assert.deepEqual(
        (await endOfRollout(stack, rollout)).decisions.map(({ action }) => action),
        ['pause', 'abort'],
      );
      await refused('pause', ANNE, /it has ended/);
    }),
  );

  for (const [how, abort] of [
    ['aborted', (stack: VirtualStack, rollout: Run) => decide(stack, rollout, 'abort', ANNE)],
    ['cancelled', (stack: VirtualStack, rollout: Run) => stack.cancel(rollout)],
  ] as const) {
    test(
      `lets running servers finish, starts none and ends cancelled when it is ${how}`,
      inFleet(async (stack) => {
        const { rollout, finish, next } = await deploying(stack);
        await abort(stack, rollout);
        await reaches(stack, rollout, 'stopping');
        await finish();
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual(outcomesOf(result), ['completed', 'completed', 'not_started']);
        assert.equal(backups(stack, next), 0);
        assert.deepEqual([result.outcome, result.error?.type], ['cancelled', 'Cancelled']);
      }),
    );
  }

  test(
    'aborted with no server left to start ends with the outcome of its servers',
    inFleet(async (stack) => {
      const [target] = servers(1);
      stack.sandbox.script({ server: target.serverId }, { ends: 'never' });
      const rollout = begin(stack, [target]);
      await backsUp(stack, target.serverId);
      await decide(stack, rollout, 'abort', ANNE);
      stack.sandbox.finish({ server: target.serverId }, 'completed');
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    }),
  );

  test(
    'with no server left to start does not pause',
    inFleet(async (stack) => {
      const [target] = servers(1);
      stack.sandbox.script({ server: target.serverId }, { durationMs: 60_000, ends: 'failed' });
      const result = await endOfRollout(stack, begin(stack, [target], { onFailures: 'pause' }));
      assert.deepEqual(
        result.decisions.map(({ action }) => action),
        ['stop'],
      );
    }),
  );

  test(
    'ignores malformed signals and rejects malformed updates',
    inFleet(async (stack) => {
      const [target] = servers(1);
      stack.sandbox.script({ server: target.serverId }, { ends: 'never' });
      const rollout = begin(stack, [target]);
      for (const garbage of [null, 5, 'x', [], { serverId: target.serverId, event: { toString: 1 }, reason: 5 }]) {
        stack.signal(rollout.workflowId, 'hold', garbage);
        assert.notEqual(await refusalOf(stack, rollout, 'pause', garbage), null);
      }
      await backsUp(stack, target.serverId);
      stack.sandbox.finish({ server: target.serverId }, 'completed');
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    }),
  );

  test(
    'notifies of its pause at once, under the id of that pause',
    inFleet(
      async (stack) => {
        const targets = servers(2);
        fail(stack, targets[0].siteIds[0]);
        const rollout = begin(stack, targets, { maxAtOnce: 1, onFailures: 'pause' });
        await reaches(stack, rollout, 'paused');
        await stack.forward(MOMENT_MS);
        const { workflowId, runId } = rollout;
        const notice = stack.world.server.find(rolloutPauseId(workflowId, runId, 1));
        await stack.until('the notification', () => notice?.closedMs);
        await decide(stack, rollout, 'abort', ANNE);
        await endOfRollout(stack, rollout);
      },
      { notify: { on: 'failed', channels: ['ops'], heartbeats: [] } },
    ),
  );
});
