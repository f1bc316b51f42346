import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventId, rolloutId } from '../../../src/contract/ids.ts';
import type { EventInput } from '../../../src/features/events/shapes.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { replayLater } from '../../support/replay-later.ts';
import { endOf, outcomesOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh, TASK_QUEUE, type TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

const started = (targets: Parameters<typeof rolloutOf>[0], more: Parameters<typeof rolloutOf>[1] = {}) =>
  world.belay.rollouts.start(rolloutOf(targets, more));
const deployments = (siteId: string | undefined) => began(world.sandbox, 'deployment', siteId ?? '').length;
const backups = (serverId: string | undefined) => began(world.sandbox, 'backup', serverId ?? '').length;
const ANNE = { by: 'anne', reason: 'the shop is slow' };

/** Starts an event workflow as the receiver does. */
async function deliver(serverId: string): Promise<string> {
  const deliveryId = fresh('msg');
  const kind = 'alert.fired';
  const event = { kind, rawKind: kind, serverId, siteId: null, backupId: null, at: null } as const;
  const about = { receivedAt: new Date().toISOString(), freshForMs: 60_000, body: {} };
  const input: EventInput = { source: 'panel', deliveryId, verified: true, ...about, event, reactions: ['hold'] };
  const workflowId = eventId('panel', deliveryId);
  await world.client.workflow.start('handleEvent', { workflowId, taskQueue: TASK_QUEUE, args: [input] });
  return workflowId;
}

describe('a rollout', { concurrency: 6 }, () => {
  test('rejects a decision without a name or out of order, and explains why', async () => {
    const [target] = servers(1);
    world.sandbox.script({ server: target.serverId }, { ends: 'never' });
    const rollout = await started([target]);
    await eventually('the backup', () => backups(target.serverId) === 1);
    const refused = (decision: Promise<void>, message: RegExp) => assert.rejects(decision, { type: 'Usage', message });
    await refused(rollout.pause({ by: 'anne', reason: ' ' }), /give your name and a reason/);
    await refused(rollout.resume(ANNE), /the rollout is not paused/);
    await refused(rollout.resume({ ...ANNE, serverId: target.serverId }), /server s\d+ is not held/);
    await rollout.pause(ANNE);
    await refused(rollout.pause(ANNE), /the rollout is already paused/);
    await rollout.abort(ANNE);
    await refused(rollout.resume(ANNE), /the rollout starts no more servers/);
    world.sandbox.finish({ server: target.serverId }, 'completed');
    assert.deepEqual(
      (await endOf(rollout)).decisions.map(({ action }) => action),
      ['pause', 'abort'],
    );
    await refused(rollout.pause(ANNE), /it has ended/);
  });

  test('holds a server named by an event until a user releases it', async () => {
    const [first, second, third] = servers(3);
    world.sandbox.script({ site: first.siteIds[0]! }, { ends: 'never' });
    const rollout = await started([first, second!, third!], { maxAtOnce: 1 });
    await eventually('the deployment', () => deployments(first.siteIds[0]) === 1);
    const events = await Promise.all([deliver(second!.serverId), deliver(third!.serverId)]);
    await deliver(first.serverId);
    await eventually('the holds', async () => {
      const [, ...held] = (await rollout.status()).result.targets.map(({ heldByEvent }) => heldByEvent);
      return held.join() === events.join();
    });
    await rollout.resume({ by: 'anne', reason: 'looked at it', serverId: second!.serverId });
    world.sandbox.finish({ site: first.siteIds[0]! }, 'completed');
    const result = await endOf(rollout);
    assert.deepEqual(outcomesOf(result), ['completed', 'completed', 'not_started']);
    assert.equal(result.targets[2]?.heldByEvent, events[1]);
    assert.match(result.error?.message ?? '', /^server s\d+: held by event:panel:/);
    assert.equal(backups(third?.serverId), 0);
  });

  test('shares no run with the retry of another key', async () => {
    const [target] = servers(1);
    world.sandbox.script({ server: target.serverId }, { durationMs: 100, ends: 'failed' }, { durationMs: 100 });
    const key = fresh('k');
    await endOf(await world.belay.rollouts.start(rolloutOf([target], { key })));
    assert.equal((await endOf(await world.belay.rollouts.retry(rolloutId('steady', key)))).outcome, 'completed');
    for (const other of [`${key}.2`, `${key}~2`]) {
      const result = await endOf(await world.belay.rollouts.start(rolloutOf([target], { key: other })));
      assert.equal(result.outcome, 'completed', result.error?.message);
    }
    assert.equal(began(world.sandbox, 'backup', target.serverId).length, 4);
  });
});

replayLater('rollouts', () => world.client, 12);
