/** Nothing is triggered in a freeze or outside its windows, and what was triggered before is followed to its verdict. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Configuration } from '../../../../../src/config/load.ts';
import type { RunInput } from '../../../../../src/contract/run.ts';
import type { ScheduledInput, ScheduledResult } from '../../../../../src/features/schedules/shapes.ts';
import { fresh } from '../../../../support/fresh.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../../support/sites.ts';
import { inVirtualTime, MOMENT_MS, type VirtualStack } from '../../../stack/stack.ts';
import { building, deployPosts } from '../runs-that-wait.ts';
import { backupPosts, verdictOf } from '../verdict-of.ts';

type Freezes = NonNullable<Configuration['freezes']>;
type Windows = NonNullable<Configuration['windows']>;

const MINUTE = 60_000;
/** The worlds begin at 08:00. */
const NOW = { from: '2026-03-02T07:00', to: '2026-03-02T12:00', reason: 'inventory' };
const SOON = { ...NOW, from: '2026-03-02T08:03' };
const ALWAYS = { ...NOW, to: '2026-12-31T00:00' };

const frozen = (freeze: Freezes[string]) => ({ configuration: { freezes: { stock: freeze } } });
const inWindow = (window: Windows[string]) => ({ configuration: { windows: { early: window } } });

/** Runs on sites of which each was deployed before. */
async function run(stack: VirtualStack, sites: number, more: Partial<RunInput> = {}) {
  const siteIds = Array.from({ length: sites }, () => siteAfter(stack.sandbox, FAILED, COMPLETED));
  const result = await stack.result(stack.start({ siteIds, ...more }));
  return { ...result, siteIds, posts: siteIds.map((it) => deployPosts(stack, it)) };
}

describe('freezes', () => {
  test(
    'of the worker that a run needs hold it back, also if one that lacks its heartbeat answered first',
    inVirtualTime(async (stack) => {
      const serverId = fresh('s');
      const asked = stack.start({ serverId, siteIds: [siteAfter(stack.sandbox, FAILED)], heartbeat: 'night' });
      await stack.forward(MOMENT_MS);
      stack.world.endWorkers();
      stack.world.addWorker({
        notify: { on: 'failed', channels: [], heartbeats: ['night'] },
        configuration: { freezes: { stock: NOW } },
      });
      const result = await stack.result(asked);
      assert.deepEqual(verdictOf(result), ['not_started', 'Frozen']);
      assert.equal(backupPosts(stack, serverId), 0);
    }),
  );

  test(
    'a run whose first site is frozen makes no backup, and says by what, until when and why',
    inVirtualTime(async (stack) => {
      const serverId = fresh('s');
      const result = await run(stack, 2, { serverId });
      assert.deepEqual(verdictOf(result), ['not_started', 'Frozen']);
      assert.match(result.error?.message ?? '', /by "stock" until 2026-03-02 12:00 \(UTC\) because "inventory"$/);
      assert.deepEqual([...result.posts, backupPosts(stack, serverId)], [0, 0, 0]);
    }, frozen(NOW)),
  );

  test(
    'a freeze that begins while the backup is made stops the deployment, and the backup stays completed',
    inVirtualTime(async (stack) => {
      const { sandbox } = stack;
      const serverId = fresh('s');
      sandbox.script({ server: serverId }, { durationMs: 4 * MINUTE, ends: 'completed' });
      const result = await run(stack, 1, { serverId });
      assert.deepEqual(verdictOf(result), ['not_started', 'Frozen']);
      assert.equal(result.backup?.outcome, 'completed');
      assert.deepEqual([result.posts, result.deployments[0]?.trigger.attempts], [[0], 0]);
    }, frozen(SOON)),
  );

  test(
    'a deployment in progress when a freeze begins is followed to its verdict',
    inVirtualTime(async (stack) => {
      const { siteId, run: started } = await building(stack);
      await stack.forward(4 * MINUTE);
      stack.sandbox.finish({ site: siteId }, 'completed');
      assert.deepEqual(verdictOf(await stack.result(started)), ['completed', undefined]);
    }, frozen(SOON)),
  );

  test(
    'a request is not sent again in a freeze, and its run ends unknown',
    inVirtualTime(async (stack) => {
      const { sandbox, start, result } = stack;
      const siteId = siteAfter(sandbox, FAILED);
      sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'none' } });
      await stack.forward(2 * MINUTE + 30_000);
      const ended = await result(start({ siteIds: [siteId] }));
      assert.deepEqual(verdictOf(ended), ['unknown', 'OutcomeUnknown']);
      assert.match(
        ended.error?.message ?? '',
        /an earlier request may have had an effect; not sent: frozen by "stock"/,
      );
      assert.equal(deployPosts(stack, siteId), 1);
    }, frozen(SOON)),
  );

  for (const [what, keepGoing, sent] of [
    ['stops a run', false, [1, 0, 0]],
    ['is left out by a run that keeps going', true, [1, 0, 1]],
  ] as const) {
    test(`a frozen site that is not the first ${what}`, () => {
      const siteIds = [fresh('a'), fresh('a'), fresh('a')];
      const scoped = frozen({ ...NOW, for: { sites: [siteIds[1]!] } });
      return inVirtualTime(async (stack) => {
        const result = await stack.result(stack.start({ siteIds, keepGoing }));
        assert.deepEqual(verdictOf(result), ['not_started', 'Frozen']);
        assert.deepEqual(
          siteIds.map((it) => deployPosts(stack, it)),
          sent,
        );
        assert.deepEqual(
          result.deployments.map(({ outcome }) => outcome),
          sent.map((it) => (it === 1 ? 'completed' : 'not_started')),
        );
      }, scoped)();
    });
  }

  test(
    'a freeze of deployments lets backups be made',
    inVirtualTime(async (stack) => {
      const backup = await stack.result(stack.start({ serverId: fresh('s') }));
      assert.deepEqual(verdictOf(backup), ['completed', undefined]);
    }, frozen(ALWAYS)),
  );

  test(
    'a freeze that blocks backups stops a backup',
    inVirtualTime(
      async (stack) => {
        const serverId = fresh('s');
        const backup = await stack.result(stack.start({ serverId }));
        assert.deepEqual(verdictOf(backup), ['not_started', 'Frozen']);
        assert.equal(backupPosts(stack, serverId), 0);
        assert.deepEqual(verdictOf(await run(stack, 1)), ['completed', undefined]);
      },
      frozen({ ...NOW, blocks: ['backup'] }),
    ),
  );

  test(
    'a schedule leaves a frozen firing out, and does not fail, so that it does not pause',
    inVirtualTime(async (stack) => {
      const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
      const firing = stack.startByHand('runScheduled', 'firing', {
        ...{ fleet: 'shop', schedule: 'nightly', when: '08:00', timeZone: 'UTC', catchUpMs: 60 * MINUTE },
        slot: { granularity: 'day', times: ['08:00'] },
        start: { type: 'deployOnly', input: { siteIds: [siteId] } },
      } satisfies ScheduledInput);
      const { outcome, frozen: by } = await stack.result<ScheduledResult>(firing);
      assert.ok(firing.outcome !== 'terminated' && firing.outcome !== null && 'result' in firing.outcome);
      assert.deepEqual([outcome, deployPosts(stack, siteId)], ['not_started', 0]);
      assert.match(by ?? '', /frozen by "stock"/);
    }, frozen(NOW)),
  );

  for (const [what, window, outcome] of [
    ['inside a window', { cron: '0 7 * * *', lasts: 2 * 60 * MINUTE }, 'completed'],
    ['outside its windows', { cron: '0 9 * * *', lasts: 2 * 60 * MINUTE }, 'not_started'],
    ['in the margin of a window', { cron: '0 7 * * *', lasts: 65 * MINUTE, margin: 10 * MINUTE }, 'not_started'],
  ] as const) {
    test(
      `a deployment ${what} ${outcome === 'completed' ? 'goes' : 'is not triggered'}`,
      inVirtualTime(async (stack) => {
        const result = await run(stack, 1);
        assert.deepEqual([result.outcome, ...result.posts], [outcome, outcome === 'completed' ? 1 : 0]);
      }, inWindow(window)),
    );
  }
});
