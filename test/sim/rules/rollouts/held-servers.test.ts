/** Servers that an event keeps from being started. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RolloutInput } from '../../../../src/features/rollouts/shapes.ts';
import { fresh } from '../../../support/fresh.ts';
import { HOUR_MS } from '../../../../src/contract/duration.ts';
import { HOLD_SIGNAL } from '../../../../src/contract/names.ts';
import { outcomesOf, rolloutOf, servers } from '../../../support/rollouts.ts';
import { MOMENT_MS, type VirtualStack } from '../../stack/stack.ts';
import { decide, endOfRollout, progressOf, startRollout } from '../../plays/start-rollout.ts';
import { freezeNow } from '../../stack/freeze-now.ts';
import type { Run } from '../../temporal/types.ts';
import { gatedBy } from './gated.ts';
import { ANNE, backsUp, backups, begin, deliver, deployments, hold, inFleet, reaches } from './rollouts-in-flight.ts';

const closed = async ({ until }: VirtualStack, events: ReturnType<typeof deliver>[]) => {
  for (const it of events) await until('the end of the event', () => it.closedMs);
};

/** A canary wave of two servers and one more. The first backup is in progress, and the second server is held. */
async function withHeldCanary(stack: VirtualStack, more: Partial<RolloutInput> = {}) {
  const [first, canary, left] = servers(3);
  const waves = [
    { name: 'canary', targets: [first, canary!] },
    { name: 'rest', targets: [left!] },
  ];
  stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
  const rollout = begin(stack, [], { waves, maxAtOnce: 1, ...more });
  await backsUp(stack, first.serverId);
  await hold(stack, rollout, canary!.serverId);
  stack.sandbox.finish({ server: first.serverId }, 'completed');
  return { rollout, canary: canary!, left: left! };
}

describe('a rollout', () => {
  test(
    'stops before the next wave if its canary is held',
    inFleet(async (stack) => {
      const { rollout, left } = await withHeldCanary(stack);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
      assert.match(result.error?.message ?? '', /^stopped: server s\d+ of wave canary is held; server/);
      assert.equal(result.error?.type, 'Busy');
      assert.equal(backups(stack, left.serverId), 0);
    }),
  );

  test(
    'with onFailures pause pauses if its canary is held and resumes without it',
    inFleet(async (stack) => {
      const { rollout, canary } = await withHeldCanary(stack, { onFailures: 'pause' });
      await reaches(stack, rollout, 'paused');
      const { waiting } = await progressOf(stack, rollout);
      assert.ok(waiting?.kind === 'decision');
      assert.match(waiting.reason, /^server s\d+ of wave canary is held$/);
      assert.deepEqual(waiting.held, [canary.serverId]);
      await decide(stack, rollout, 'resume', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'completed']);
      assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Busy']);
      assert.equal(backups(stack, canary.serverId), 0);
    }),
  );

  test(
    'with onFailures pause pauses if its last server is held and continues when that server is released',
    inFleet(async (stack) => {
      const [first, held] = servers(2);
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const rollout = begin(stack, [first, held!], { maxAtOnce: 1, onFailures: 'pause' });
      await backsUp(stack, first.serverId);
      await hold(stack, rollout, held!.serverId);
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      await reaches(stack, rollout, 'paused');
      await decide(stack, rollout, 'resume', { ...ANNE, serverId: held!.serverId });
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'completed']);
      assert.deepEqual(
        result.decisions.map(({ action }) => action),
        ['hold', 'pause', 'release', 'resume'],
      );
    }),
  );

  test(
    'counts the failures on when its last held server is released',
    inFleet(async (stack) => {
      const [first, held, ...later] = servers(4);
      for (const { siteIds } of [first, held!]) stack.sandbox.script({ site: siteIds[0]! }, { ends: 'failed' });
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const waves = [
        { name: 'canary', targets: [first, held!] },
        { name: 'rest', targets: later },
      ];
      const rollout = begin(stack, [], { waves, maxAtOnce: 1, maxFailures: 1, onFailures: 'pause' });
      await backsUp(stack, first.serverId);
      await hold(stack, rollout, held!.serverId);
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      await reaches(stack, rollout, 'paused');
      await decide(stack, rollout, 'resume', { ...ANNE, serverId: held!.serverId });
      await backsUp(stack, held!.serverId);
      await reaches(stack, rollout, 'paused');
      const { waiting } = await progressOf(stack, rollout);
      assert.match(waiting?.kind === 'decision' ? waiting.reason : '', /too many servers are not completed: 2/);
      assert.deepEqual(
        later.map(({ serverId }) => backups(stack, serverId)),
        [0, 0],
      );
    }),
  );

  test(
    'stops before a held server after a person has resumed it for a gate, and begins no later wave',
    inFleet(async (stack) => {
      stack.world.meter.shows = () => 'NaN';
      const [canary, held, left] = servers(3);
      const waves = [
        { name: 'canary', after: { gates: ['errors'] }, targets: [canary] },
        { name: 'next', targets: [held!] },
        { name: 'rest', targets: [left!] },
      ];
      const rollout = begin(stack, [], { waves });
      await reaches(stack, rollout, 'paused');
      await hold(stack, rollout, held!.serverId);
      await decide(stack, rollout, 'resume', ANNE);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
      assert.match(result.error?.message ?? '', /^stopped: server s\d+ of wave next is held; server/);
      assert.equal(backups(stack, left!.serverId), 0);
    }, gatedBy()),
  );

  test(
    'that names no service is not held back by an event of another one that arrives before it knows its own',
    inFleet(async (stack) => {
      const targets = servers(1);
      const { serverId } = targets[0];
      const input = { ...rolloutOf(targets, { options: {} }), service: undefined };
      const rollout = startRollout(stack.world.server, input as unknown as RolloutInput);
      const about = { serverId, event: 'event:panel:1', reason: 'an alert fired' };
      stack.signal(rollout.workflowId, HOLD_SIGNAL, { ...about, services: ['https://other.example'] });
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed']);
    }),
  );

  /** More decisions than a rollout keeps. */
  async function holdAndRelease(stack: VirtualStack, rollout: Run, serverId: string) {
    for (let count = 0; count <= 500; count += 1) {
      await hold(stack, rollout, serverId);
      await decide(stack, rollout, 'resume', { ...ANNE, serverId });
    }
  }

  test(
    'that waits for a freeze continues after it, however often a server was held and released meanwhile',
    inFleet(async (stack) => {
      const [first, noisy] = servers(2);
      freezeNow(stack.world.server, { forMs: 3 * HOUR_MS });
      const rollout = begin(stack, [first, noisy!], { options: { ifFrozen: 'wait' } });
      await reaches(stack, rollout, 'paused');
      await holdAndRelease(stack, rollout, noisy!.serverId);
      assert.equal((await progressOf(stack, rollout)).waiting?.kind, 'freeze');
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'completed']);
      assert.equal(result.decisions.length, 1_000);
    }),
  );

  test(
    'that a person paused still says who did and why, however often a server was held and released meanwhile',
    inFleet(async (stack) => {
      const [first, noisy] = servers(2);
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const rollout = begin(stack, [first, noisy!], { maxAtOnce: 1 });
      await backsUp(stack, first.serverId);
      await decide(stack, rollout, 'pause', ANNE);
      await holdAndRelease(stack, rollout, noisy!.serverId);
      const { waiting } = await progressOf(stack, rollout);
      assert.deepEqual(waiting?.kind === 'decision' && [waiting.by, waiting.reason], [ANNE.by, ANNE.reason]);
      await decide(stack, rollout, 'abort', ANNE);
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      await endOfRollout(stack, rollout);
    }),
  );

  test(
    'that paused for a held server continues once that server is released, however many alerts came meanwhile',
    inFleet(async (stack) => {
      const { rollout, canary } = await withHeldCanary(stack, { onFailures: 'pause' });
      await reaches(stack, rollout, 'paused');
      for (let count = 0; count <= 1_000; count += 1) {
        const alert = { serverId: canary.serverId, event: `event:panel:flap${count}`, reason: 'an alert fired' };
        stack.signal(rollout.workflowId, HOLD_SIGNAL, alert);
      }
      await stack.forward(MOMENT_MS);
      assert.equal((await progressOf(stack, rollout)).result.decisions.length, 1_000);
      await decide(stack, rollout, 'resume', { ...ANNE, serverId: canary.serverId });
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed', 'completed']);
    }),
  );

  test(
    'that pauses for a held server continues once that server is released, however often another one was held before',
    inFleet(async (stack) => {
      const [first, canary, noisy] = servers(3);
      const waves = [
        { name: 'canary', targets: [first, canary!] },
        { name: 'rest', targets: [noisy!] },
      ];
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const rollout = begin(stack, [], { waves, maxAtOnce: 1, onFailures: 'pause' });
      await backsUp(stack, first.serverId);
      await hold(stack, rollout, canary!.serverId);
      await holdAndRelease(stack, rollout, noisy!.serverId);
      stack.sandbox.finish({ server: first.serverId }, 'completed');
      await reaches(stack, rollout, 'paused');
      await decide(stack, rollout, 'resume', { ...ANNE, serverId: canary!.serverId });
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed', 'completed']);
    }),
  );

  for (const kind of ['alert.fired', 'resource.deleted'] as const) {
    test(
      `holds a server named by ${kind} until a user releases it`,
      inFleet(async (stack) => {
        const [first, second, third] = servers(3);
        stack.sandbox.script({ site: first.siteIds[0]! }, { ends: 'never' });
        const rollout = begin(stack, [first, second!, third!], { maxAtOnce: 1 });
        await stack.until('the deployment', () => deployments(stack, first.siteIds[0]) === 1);
        const events = [second, third, first].map((it) => deliver(stack, kind, it?.serverId));
        await closed(stack, events);
        assert.equal((await progressOf(stack, rollout)).result.decisions.length, 2);
        await decide(stack, rollout, 'resume', { by: 'anne', reason: 'looked at it', serverId: second!.serverId });
        stack.sandbox.finish({ site: first.siteIds[0]! }, 'completed');
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual(outcomesOf(result), ['completed', 'completed', 'not_started']);
        assert.equal(result.targets[2]?.heldByEvent, events[1]!.workflowId);
        assert.match(result.error?.message ?? '', /^server s\d+: held by event:panel:/);
        assert.equal(backups(stack, third?.serverId), 0);
      }),
    );
  }

  test(
    'gets one signal per event about its servers and none for other servers',
    inFleet(async (stack) => {
      const [first, ...others] = servers(2);
      stack.sandbox.script({ server: first.serverId }, { ends: 'never' });
      const rollout = begin(stack, [first, ...others], { maxAtOnce: 1 });
      await backsUp(stack, first.serverId);
      const about = [...others.map(({ serverId }) => serverId), fresh('s'), fresh('s')];
      await closed(
        stack,
        about.map((serverId) => deliver(stack, 'alert.fired', serverId)),
      );
      assert.equal(rollout.history.filter(({ kind }) => kind === 'signaled').length, 1);
      await decide(stack, rollout, 'abort', ANNE);
      stack.sandbox.finish({ server: first.serverId }, 'failed');
      await endOfRollout(stack, rollout);
    }),
  );

  test(
    'is not held back by an event from an unverified sender',
    inFleet(async (stack) => {
      const targets = servers(2);
      stack.sandbox.script({ site: targets[0].siteIds[0]! }, { ends: 'never' });
      const rollout = begin(stack, targets, { maxAtOnce: 1 });
      await stack.until('the deployment', () => deployments(stack, targets[0].siteIds[0]) === 1);
      await closed(stack, [deliver(stack, 'alert.fired', targets[1]!.serverId, false)]);
      await stack.forward(MOMENT_MS);
      stack.sandbox.finish({ site: targets[0].siteIds[0]! }, 'completed');
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    }),
  );
});
