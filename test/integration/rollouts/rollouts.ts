import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { deploySiteId, eventId } from '../../../src/contract/ids/workflow-ids.ts';
import type { EventInput } from '../../../src/contract/event.ts';
import type { RolloutResult } from '../../../src/contract/rollout.ts';
import type { Rollout } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { replayLater } from '../../support/replay.ts';
import { resetToBeginning } from '../../support/reset.ts';
import { endOf, outcomesOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh, TASK_QUEUE, type TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack({ backup: { durationMs: 300 }, deployment: { durationMs: 300 } });
});

const script = (siteId: string | undefined, ends: string) =>
  world.sandbox.script({ site: siteId ?? '' }, { durationMs: 300, ends });
const started = (targets: Parameters<typeof rolloutOf>[0], more: Parameters<typeof rolloutOf>[1] = {}) =>
  world.belay.rollouts.start(rolloutOf(targets, more));
const deployments = (siteId: string | undefined) => began(world.sandbox, 'deployment', siteId ?? '').length;
const backups = (serverId: string | undefined) => began(world.sandbox, 'backup', serverId ?? '').length;
const reaches = (rollout: Rollout, phase: RolloutResult['phase']) =>
  eventually(`the phase ${phase}`, async () => (await rollout.status()).result.phase === phase);
const ANNE = { by: 'anne', reason: 'the shop is slow' };

/** Starts an event workflow as the receiver does. */
async function deliver(kind: EventInput['event']['kind'], serverId: string, verified = true): Promise<string> {
  const deliveryId = fresh('msg');
  const event = { kind, rawKind: kind, serverId, siteId: null, backupId: null, at: null };
  const about = { receivedAt: new Date().toISOString(), freshForMs: 60_000, body: {} };
  const input: EventInput = { source: 'panel', deliveryId, verified, ...about, event, reactions: ['hold'] };
  const workflowId = eventId('panel', deliveryId);
  await world.client.workflow.start('handleEvent', { workflowId, taskQueue: TASK_QUEUE, args: [input] });
  return workflowId;
}

describe('a rollout', { concurrency: 6 }, () => {
  test('makes one backup of each server and deploys its sites, wave by wave, with limited concurrency', async () => {
    const [canary, ...rest] = servers(5, 2);
    const waves = [
      { name: 'canary', targets: [canary] },
      { name: 'rest', targets: rest },
    ];
    const result = await endOf(await started([], { waves }));
    assert.equal(result.outcome, 'completed', JSON.stringify(result.error));
    assert.deepEqual([result.servers.completed, result.deployments.completed], [5, 10]);
    for (const { serverId, siteIds } of [canary, ...rest]) {
      assert.equal(backups(serverId), 1);
      assert.deepEqual(siteIds.map(deployments), [1, 1]);
    }
    const [first, ...others] = result.targets;
    for (const { startedAt } of others) {
      assert.ok((startedAt ?? '') >= (first?.endedAt ?? ''), 'a server started before the canary ended');
      const during = result.targets.filter((it) => it.startedAt! <= startedAt! && it.endedAt! > startedAt!);
      assert.ok(during.length <= 2, `${during.length} at once`);
    }
  });

  test('starts no more servers when more than maxFailures servers are not completed', async () => {
    const targets = servers(5);
    for (const { siteIds } of targets.slice(0, 2)) script(siteIds[0], 'failed');
    const result = await endOf(await started(targets, { maxAtOnce: 1, maxFailures: 1 }));
    assert.deepEqual(outcomesOf(result), ['failed', 'failed', 'not_started', 'not_started', 'not_started']);
    assert.deepEqual([result.outcome, result.error?.type], ['failed', 'DeploymentFailed']);
    assert.match(
      result.error?.message ?? '',
      /^stopped: too many servers are not completed: 2 \(at most 1 allowed\); server/,
    );
    assert.deepEqual(
      targets.map(({ serverId }) => backups(serverId)),
      [1, 1, 0, 0, 0],
    );
    assert.deepEqual([result.servers.failed, result.servers.not_started], [2, 3]);
  });

  test('continues while at most maxFailures servers are not completed, and reports them at the end', async () => {
    const targets = servers(3);
    script(targets[0].siteIds[0], 'failed');
    const result = await endOf(await started(targets, { maxAtOnce: 1, maxFailures: 1 }));
    assert.deepEqual(outcomesOf(result), ['failed', 'completed', 'completed']);
    assert.deepEqual([result.outcome, result.decisions], ['failed', []]);
  });

  test('counts the failure of the last server', async () => {
    const targets = servers(2);
    script(targets[1]?.siteIds[0], 'failed');
    const result = await endOf(await started(targets));
    assert.deepEqual([result.outcome, result.decisions[0]?.action], ['failed', 'stop']);
  });

  test('pauses for a decision, records it in its history, and continues when resumed', async () => {
    const targets = servers(3);
    script(targets[0].siteIds[0], 'failed');
    const rollout = await started(targets, { maxAtOnce: 1, onFailures: 'pause' });
    await reaches(rollout, 'paused');
    const { waiting } = await rollout.status();
    assert.ok(waiting?.kind === 'decision');
    assert.match(waiting.reason, /^too many servers are not completed: 1 \(at most 0 allowed\)$/);
    assert.equal(backups(targets[1]?.serverId), 0);
    await rollout.resume({ by: 'anne', reason: 'known, goes away tomorrow' });
    const result = await endOf(rollout);
    assert.deepEqual(outcomesOf(result), ['failed', 'completed', 'completed']);
    const [, resumed] = result.decisions;
    assert.deepEqual([resumed?.action, resumed?.by, resumed?.reason], ['resume', 'anne', 'known, goes away tomorrow']);
  });

  test('pauses again if more than maxFailures servers fail after a resume', async () => {
    const targets = servers(3);
    for (const { siteIds } of targets) script(siteIds[0], 'failed');
    const rollout = await started(targets, { maxAtOnce: 1, onFailures: 'pause' });
    await reaches(rollout, 'paused');
    await rollout.resume(ANNE);
    await eventually('the second pause', async () => (await rollout.status()).result.decisions.length === 3);
    await rollout.abort(ANNE);
    const result = await endOf(rollout);
    assert.deepEqual(outcomesOf(result), ['failed', 'failed', 'not_started']);
    assert.match(result.error?.message ?? '', /^aborted by anne: the shop is slow; server s\d+: /);
  });

  test('lets running servers finish and starts none while it is paused', async () => {
    const targets = servers(2);
    world.sandbox.script({ site: targets[0].siteIds[0]! }, { ends: 'never' });
    const rollout = await started(targets, { maxAtOnce: 1 });
    await eventually('the deployment', () => deployments(targets[0].siteIds[0]) === 1);
    await rollout.pause(ANNE);
    world.sandbox.finish({ site: targets[0].siteIds[0]! }, 'completed');
    await eventually('its end', async () => (await rollout.status()).result.servers.completed === 1);
    assert.equal((await rollout.status()).result.phase, 'paused');
    assert.equal(backups(targets[1]?.serverId), 0);
    await rollout.resume(ANNE);
    assert.equal((await endOf(rollout)).outcome, 'completed');
  });

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

  for (const [how, abort] of [
    ['aborted', (rollout: Rollout) => rollout.abort(ANNE)],
    ['cancelled', (rollout: Rollout) => rollout.cancel()],
  ] as const) {
    test(`lets running servers finish, starts none and ends cancelled when it is ${how}`, async () => {
      const targets = servers(2);
      world.sandbox.script({ site: targets[0].siteIds[0]! }, { ends: 'never' });
      const rollout = await started(targets, { maxAtOnce: 1 });
      await eventually('the deployment', () => deployments(targets[0].siteIds[0]) === 1);
      await abort(rollout);
      await reaches(rollout, 'stopping');
      world.sandbox.finish({ site: targets[0].siteIds[0]! }, 'completed');
      const result = await endOf(rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started']);
      assert.deepEqual([result.outcome, result.error?.type], ['cancelled', 'Cancelled']);
    });
  }

  for (const kind of ['alert.fired', 'resource.deleted'] as const) {
    test(`holds back a server named by ${kind} until a user releases it`, async () => {
      const [busy, held, left] = servers(3) as [never, never, never] & ReturnType<typeof servers>;
      const [first, second, third] = [busy, held, left] as ReturnType<typeof servers>;
      world.sandbox.script({ site: first.siteIds[0]! }, { ends: 'never' });
      const rollout = await started([first, second!, third!], { maxAtOnce: 1 });
      await eventually('the deployment', () => deployments(first.siteIds[0]) === 1);
      const events = await Promise.all([deliver(kind, second!.serverId), deliver(kind, third!.serverId)]);
      await deliver(kind, first.serverId);
      await eventually('the holds', async () => (await rollout.status()).result.decisions.length >= 2);
      await rollout.resume({ by: 'anne', reason: 'looked at it', serverId: second!.serverId });
      world.sandbox.finish({ site: first.siteIds[0]! }, 'completed');
      const result = await endOf(rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'completed', 'not_started']);
      assert.equal(result.targets[2]?.heldByEvent, events[1]);
      assert.match(result.error?.message ?? '', /^server s\d+: held by event:panel:/);
      assert.equal(backups(third?.serverId), 0);
    });
  }

  test('gets one signal per event about its servers and none for other servers', async () => {
    const [first, ...others] = servers(2);
    world.sandbox.script({ server: first.serverId }, { ends: 'never' });
    const rollout = await started([first, ...others], { maxAtOnce: 1 });
    await eventually('the backup', () => backups(first.serverId) === 1);
    const about = [...others.map(({ serverId }) => serverId), fresh('s'), fresh('s')];
    const events = await Promise.all(about.map((serverId) => deliver('alert.fired', serverId)));
    for (const event of events) await world.client.workflow.getHandle(event).result();
    const { events: history } = await world.client.workflow.getHandle(rollout.workflowId).fetchHistory();
    assert.equal(history?.filter((it) => it.workflowExecutionSignaledEventAttributes).length, 1);
    await rollout.abort(ANNE);
    world.sandbox.finish({ server: first.serverId }, 'failed');
    await endOf(rollout);
  });

  test('is not held back by an event from an unverified sender', async () => {
    const targets = servers(2);
    world.sandbox.script({ site: targets[0].siteIds[0]! }, { ends: 'never' });
    const rollout = await started(targets, { maxAtOnce: 1 });
    await eventually('the deployment', () => deployments(targets[0].siteIds[0]) === 1);
    await world.client.workflow.getHandle(await deliver('alert.fired', targets[1]!.serverId, false)).result();
    world.sandbox.finish({ site: targets[0].siteIds[0]! }, 'completed');
    assert.equal((await endOf(rollout)).outcome, 'completed');
  });

  test('starts no server again when it is reset', async () => {
    const [target] = servers(1);
    const rollout = await started([target]);
    await endOf(rollout);
    await resetToBeginning(world.client, rollout.workflowId);
    const result = await endOf(world.belay.rollouts.get(rollout.workflowId));
    assert.deepEqual([result.outcome, result.error?.type], ['unknown', 'OutcomeUnknown']);
    assert.match(result.error?.message ?? '', /was already started, by a reset rollout or by hand/);
    // The result of its run is still found.
    await assert.rejects(world.belay.rollouts.retry(rollout.workflowId), /there is nothing to retry/);
    assert.deepEqual([backups(target.serverId), deployments(target.siteIds[0])], [1, 1]);
  });

  test('shares the locks of manual runs and waits for one of them', async () => {
    const [target] = servers(1);
    const siteId = target.siteIds[0]!;
    world.sandbox.script({ site: siteId }, { ends: 'never' }, {});
    const byHand = await world.belay.start({ siteIds: [siteId], deploy: { intervalMs: 200, tries: 1_000 } });
    await eventually('the deployment', () => deployments(siteId) === 1);
    const rollout = await started([target]);
    const run = await eventually('its run', async () => (await rollout.status()).result.targets[0]?.workflowId);
    const heldByEvent = await eventually('the holder', async () => {
      // The rollout knows the run's id before the run exists.
      const waiting = (
        await world.belay
          .get(run)
          .status()
          .catch(() => null)
      )?.waiting;
      return waiting?.kind === 'lock' && waiting.lockId === deploySiteId(siteId) && waiting.lockedBy;
    });
    assert.equal(heldByEvent, byHand.workflowId);
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await resultOf(byHand)).outcome, 'completed');
    assert.equal((await endOf(rollout)).outcome, 'completed');
    assert.equal(deployments(siteId), 2);
  });
});

replayLater('rollouts', () => world.client, 21);
