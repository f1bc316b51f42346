/** A run that was told to override a freeze is let off that one, and off no other. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Configuration } from '../../../../../src/config/load.ts';
import type { RunInput } from '../../../../../src/contract/run.ts';
import { fresh } from '../../../../support/fresh.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../../support/sites.ts';
import { freezeNow, overriding } from '../../../stack/freeze-now.ts';
import { inVirtualTime, type VirtualStack } from '../../../stack/stack.ts';
import { deployPosts } from '../runs-that-wait.ts';
import { backupPosts, verdictOf } from '../verdict-of.ts';

const MINUTE = 60_000;
const NOW = { from: '2026-03-02T07:00', to: '2026-03-02T12:00', reason: 'inventory' };
const inFile = (configuration: Pick<Configuration, 'freezes' | 'windows'>) => ({ configuration });

/** Runs one site that was deployed before. */
async function deploy(stack: VirtualStack, more: Partial<RunInput>) {
  const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
  const result = await stack.result(stack.start({ siteIds: [siteId], ...more }));
  return { result, verdict: verdictOf(result), posts: deployPosts(stack, siteId) };
}

/** The backup takes four minutes. */
function deployAfterBackup(stack: VirtualStack, more: Partial<RunInput>) {
  const serverId = fresh('s');
  stack.sandbox.script({ server: serverId }, { durationMs: 4 * MINUTE, ends: 'completed' });
  return deploy(stack, { serverId, ...more });
}

describe('a run that overrides a freeze', () => {
  test(
    'goes, and reports who let it off and why',
    inVirtualTime(
      async (stack) => {
        const { result, verdict, posts } = await deploy(stack, overriding('stock'));
        assert.deepEqual([verdict, posts], [['completed', undefined], 1]);
        const [held] = result.held;
        const { from = '', to = '' } = held ?? {};
        assert.deepEqual(held, { for: 'freeze', name: 'stock', from, to, end: 'overridden', by: 'ana', why: 'CVE' });
      },
      inFile({ freezes: { stock: NOW } }),
    ),
  );

  for (const [what, stock, more] of [
    ['that allows no override', { ...NOW, override: 'never' }, overriding('stock')],
    ['that its override does not name', NOW, overriding('other')],
    ['without an override', NOW, {}],
  ] as const) {
    test(
      `is held back by one ${what}, whatever it says that it is let off`,
      inVirtualTime(
        async (stack) => {
          const letOff = [{ kind: 'freeze', name: 'stock' } as const];
          const { verdict, posts } = await deploy(stack, { ...more, letOff });
          assert.deepEqual([verdict, posts], [['not_started', 'Frozen'], 0]);
        },
        inFile({ freezes: { stock } }),
      ),
    );
  }

  test(
    'is held back by another one',
    inVirtualTime(
      async (stack) => {
        const { result, posts } = await deploy(stack, overriding('stock'));
        assert.deepEqual([result.error?.type, posts], ['Frozen', 0]);
        assert.match(result.error?.message ?? '', /by "move" until/);
        assert.doesNotMatch(result.error?.message ?? '', /by "stock"/);
      },
      inFile({ freezes: { stock: NOW, move: NOW } }),
    ),
  );

  test(
    'is held back by one that begins later under another name',
    inVirtualTime(
      async (stack) => {
        const { result, posts } = await deployAfterBackup(stack, overriding('stock'));
        assert.deepEqual([result.error?.type, result.backup?.outcome, posts], ['Frozen', 'completed', 0]);
      },
      inFile({ freezes: { stock: NOW, later: { ...NOW, from: '2026-03-02T08:03' } } }),
    ),
  );

  test(
    'goes in one of belay.yaml that it names, and that begins after its start',
    inVirtualTime(
      async (stack) => {
        const { verdict, posts } = await deployAfterBackup(stack, overriding('later'));
        assert.deepEqual([verdict, posts], [['completed', undefined], 1]);
      },
      inFile({ freezes: { later: { ...NOW, from: '2026-03-02T08:03' } } }),
    ),
  );

  test(
    'goes outside a window that it overrides',
    inVirtualTime(
      async (stack) => {
        assert.deepEqual((await deploy(stack, overriding('early'))).verdict, ['completed', undefined]);
      },
      inFile({ windows: { early: { cron: '0 9 * * *', lasts: 60 * MINUTE } } }),
    ),
  );

  for (const [what, name, type] of [
    ['a freeze that allows none', 'never', 'Refused'],
    ['a freeze that there is not', 'other', 'Usage'],
    ['an ad-hoc freeze that there is not', 'freeze:all', 'Usage'],
    ['a workflow that is no freeze', 'rollout:shop:1', 'Usage'],
  ] as const) {
    test(
      `begins nothing if it is ${what}`,
      inVirtualTime(
        async (stack) => {
          const serverId = fresh('s');
          const { verdict, posts, result } = await deploy(stack, { serverId, ...overriding('stock', name) });
          assert.deepEqual([verdict, posts, backupPosts(stack, serverId)], [['not_started', type], 0, 0]);
          if (type === 'Refused')
            assert.match(
              result.error?.message ?? '',
              /"never", which ends at 2026-03-02 12:00 \(UTC\), because freezes\.never\.override in .* is never: wait for its end$/,
            );
        },
        inFile({ freezes: { stock: NOW, never: { ...NOW, override: 'never' } } }),
      ),
    );
  }

  test(
    'goes in an ad-hoc freeze',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server);
      assert.deepEqual((await deploy(stack, overriding('freeze:all'))).verdict, ['completed', undefined]);
    }),
  );

  test(
    'begins nothing in an ad-hoc freeze with --no-override',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server, { override: 'never' });
      const { verdict, result } = await deploy(stack, overriding('freeze:all'));
      assert.deepEqual(verdict, ['not_started', 'Refused']);
      assert.match(
        result.error?.message ?? '',
        /"freeze:all", which ends at .* \(UTC\), because it was set with --no-override: wait for its end, or thaw it$/,
      );
    }),
  );

  test(
    'is held back by an ad-hoc freeze of the same scope that a person sets later',
    inVirtualTime(async (stack) => {
      const first = freezeNow(stack.world.server);
      const serverId = fresh('s');
      stack.sandbox.script({ server: serverId }, { durationMs: 4 * MINUTE, ends: 'completed' });
      const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
      const run = stack.start({ serverId, siteIds: [siteId], ...overriding('freeze:all') });
      await stack.forward(2 * MINUTE);
      stack.world.server.terminate(first);
      freezeNow(stack.world.server);
      assert.deepEqual(verdictOf(await stack.result(run)), ['not_started', 'Frozen']);
      assert.equal(deployPosts(stack, siteId), 0);
    }),
  );

  test(
    'waits for another one, and not for the one that it overrides',
    inVirtualTime(async (stack) => {
      freezeNow(stack.world.server, { forMs: 240 * MINUTE });
      const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
      freezeNow(stack.world.server, { scope: { kind: 'site', id: siteId }, forMs: 30 * MINUTE });
      const startedMs = stack.world.clock.nowMs;
      const result = await stack.result(
        stack.start({ siteIds: [siteId], ifFrozen: 'wait', ...overriding('freeze:all') }),
      );
      assert.deepEqual(verdictOf(result), ['completed', undefined]);
      assert.ok(stack.world.clock.nowMs - startedMs < 60 * MINUTE);
      assert.deepEqual(
        result.held.map(({ name, end }) => [name, end]),
        [
          ['freeze:all', 'overridden'],
          [`freeze:site:${siteId}`, 'passed'],
        ],
      );
    }),
  );
});
