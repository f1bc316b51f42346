/** An ad-hoc freeze holds from its start on, and for what fits its scope. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FreezeScope } from '../../../../../src/features/freezes/shapes.ts';
import type { RunInput } from '../../../../../src/contract/run.ts';
import { freezeId } from '../../../../../src/contract/ids.ts';
import { fresh } from '../../../../support/fresh.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../../support/sites.ts';
import { freezeNow } from '../../../stack/freeze-now.ts';
import { inVirtualTime, type VirtualStack } from '../../../stack/stack.ts';
import { statusOf } from '../../../temporal/list-query.ts';
import { building, deployPosts } from '../runs-that-wait.ts';
import { backupPosts, verdictOf } from '../verdict-of.ts';

const MINUTE = 60_000;

/** Runs one site that was deployed before. */
async function deploy(stack: VirtualStack, more: Partial<RunInput> = {}) {
  const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
  const result = await stack.result(stack.start({ siteIds: [siteId], ...more }));
  return { siteId, result, verdict: verdictOf(result), posts: deployPosts(stack, siteId) };
}

describe('ad-hoc freezes', () => {
  test(
    'a freeze of everything makes a run end Frozen before its backup, and says until when, why and by whom',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      const serverId = fresh('s');
      const { verdict, posts, result } = await deploy(stack, { serverId });
      assert.deepEqual([verdict, posts, backupPosts(stack, serverId)], [['not_started', 'Frozen'], 0, 0]);
      assert.match(
        result.error?.message ?? '',
        /frozen by "freeze:all" \(set by "ana"\) until 2026-03-02 09:00:00 \(UTC\) because "disks"$/,
      );
    }),
  );

  test(
    'a freeze that begins while the backup is made stops the deployment',
    inVirtualTime(async (stack) => {
      const serverId = fresh('s');
      stack.sandbox.script({ server: serverId }, { durationMs: 4 * MINUTE, ends: 'completed' });
      const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
      const run = stack.start({ serverId, siteIds: [siteId] });
      await stack.forward(2 * MINUTE);
      freezeNow(stack.world.server);
      const result = await stack.result(run);
      assert.deepEqual(verdictOf(result), ['not_started', 'Frozen']);
      assert.deepEqual([result.backup?.outcome, deployPosts(stack, siteId)], ['completed', 0]);
    }),
  );

  test(
    'a deployment in progress is followed to its verdict',
    inVirtualTime(async (stack) => {
      const { siteId, run } = await building(stack);
      freezeNow(stack.world.server);
      await stack.forward(MINUTE);
      stack.sandbox.finish({ site: siteId }, 'completed');
      assert.deepEqual(verdictOf(await stack.result(run)), ['completed', undefined]);
    }),
  );

  test(
    'deployments go once it is over, and once it was terminated',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server, { forMs: 10 * MINUTE });
      assert.deepEqual((await deploy(stack)).verdict, ['not_started', 'Frozen']);
      await stack.forward(10 * MINUTE);
      assert.deepEqual((await deploy(stack)).verdict, ['completed', undefined]);
      const again = freezeNow(stack.world.server);
      assert.deepEqual((await deploy(stack)).verdict, ['not_started', 'Frozen']);
      stack.world.server.terminate(again);
      assert.deepEqual((await deploy(stack)).verdict, ['completed', undefined]);
    }),
  );

  test(
    'its workflow ends by itself',
    inVirtualTime(async (stack) => {
      const { server } = stack.world;
      const startedMs = server.nowMs();
      const freeze = freezeNow(server, { forMs: 10 * MINUTE });
      await stack.until('its end', () => freeze.closedMs !== null);
      const lastedMs = freeze.closedMs! - startedMs;
      assert.ok(lastedMs >= 10 * MINUTE && lastedMs < 11 * MINUTE, `${lastedMs}`);
      assert.equal(statusOf(freeze), 'Completed');
    }),
  );

  const siteId = fresh('a');
  const servers = new Map([['s-of-fleet', { sites: [siteId] }]]);
  const inFleet = { configuration: { fleets: { shop: { servers } } } };
  for (const [what, scope, expected] of [
    ['its fleet', { kind: 'fleet', id: 'shop' }, 'Frozen'],
    ['its server', { kind: 'server', id: 's-of-fleet' }, 'Frozen'],
    ['it', { kind: 'site', id: siteId }, 'Frozen'],
    ['another fleet', { kind: 'fleet', id: 'blog' }, undefined],
    ['another server', { kind: 'server', id: 'another-server' }, undefined],
    ['another site', { kind: 'site', id: 'another-site' }, undefined],
    ['an app with its id', { kind: 'app', id: siteId }, undefined],
  ] as [string, FreezeScope, string | undefined][]) {
    test(
      `a site ${expected === undefined ? 'goes in' : 'is held back by'} a freeze of ${what}`,
      inVirtualTime(async (stack) => {
        freezeNow(stack.world.server, { scope });
        const result = await stack.result(stack.start({ siteIds: [siteId] }));
        assert.deepEqual([result.error?.type, deployPosts(stack, siteId)], [expected, expected === undefined ? 1 : 0]);
      }, inFleet),
    );
  }

  for (const [what, backups, expected] of [
    ['lets backups be made', false, 'completed'],
    ['of backups as well stops a backup', true, 'not_started'],
  ] as const) {
    test(
      `a freeze ${what}`,
      inVirtualTime(async (stack) => {
        freezeNow(stack.world.server, { backups });
        const serverId = fresh('s');
        const { outcome } = await stack.result(stack.start({ serverId }));
        assert.deepEqual([outcome, backupPosts(stack, serverId)], [expected, backups ? 0 : 1]);
      }),
    );
  }

  test(
    'a freeze that was started by hand, without a memo, holds as long as it runs',
    inVirtualTime(async (stack) => {
      const workflowId = freezeId({ kind: 'all' });
      stack.startByHand('freeze', workflowId, {
        scope: { kind: 'all' },
        until: new Date(stack.world.clock.nowMs + 10 * MINUTE).toISOString(),
      });
      const { verdict, result } = await deploy(stack);
      assert.deepEqual(verdict, ['not_started', 'Frozen']);
      assert.match(result.error?.message ?? '', /its memo cannot be read/);
      await stack.forward(10 * MINUTE);
      assert.deepEqual((await deploy(stack)).verdict, ['completed', undefined]);
    }),
  );

  test(
    'a workflow with the id of another freeze fails at once',
    inVirtualTime(async (stack) => {
      const until = new Date(stack.world.clock.nowMs + 10 * MINUTE).toISOString();
      const wrong = stack.startByHand('freeze', 'freeze:site:34', { scope: { kind: 'all' }, until });
      await stack.until('its end', () => wrong.closedMs !== null);
      assert.deepEqual((await deploy(stack)).verdict, ['completed', undefined]);
    }),
  );
});
