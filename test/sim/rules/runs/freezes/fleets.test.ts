/** What is for a fleet holds back the runs of its rollouts, also where the worker's file lacks their servers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Configuration } from '../../../../../src/config/load.ts';
import { policyOf } from '../../../../../src/config/policy.ts';
import { siteTarget } from '../../../../../src/contract/target.ts';
import { outcomesOf } from '../../../../support/rollouts.ts';
import { endOfRollout } from '../../../plays/start-rollout.ts';
import { freezeNow } from '../../../stack/freeze-now.ts';
import { backsUp, begin, deployments, inFleet } from '../../rollouts/rollouts-in-flight.ts';

const SHOP = { configuration: { fleets: { shop: { servers: new Map([['11', { sites: ['30'] }]]) } } } };

describe('the fleet that a run names', () => {
  test(
    'is held back by a freeze of that fleet before its first server, although the worker has its server in no fleet',
    inFleet(async (stack) => {
      freezeNow(stack.world.server, { scope: { kind: 'fleet', id: 'shop' } });
      const rollout = begin(stack, [{ serverId: '12', siteIds: ['34'] }], { fleet: 'shop' });
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([result.error?.type, outcomesOf(result)], ['Frozen', ['not_started']]);
      assert.equal(deployments(stack, '34'), 0);
    }, SHOP),
  );

  test(
    'is held back by a freeze that begins while the backup of its server is made',
    inFleet(async (stack) => {
      stack.sandbox.script({ server: '12' }, { ends: 'never' });
      const rollout = begin(stack, [{ serverId: '12', siteIds: ['34'] }], { fleet: 'shop' });
      await backsUp(stack, '12');
      freezeNow(stack.world.server, { scope: { kind: 'fleet', id: 'shop' } });
      stack.sandbox.finish({ server: '12' }, 'completed');
      assert.equal((await endOfRollout(stack, rollout)).error?.type, 'Frozen');
      assert.equal(deployments(stack, '34'), 0);
    }, SHOP),
  );

  test('adds freezes and approvals, and opens no window', () => {
    const servers = (id: string, site: string) => ({ servers: new Map([[id, { sites: [site] }]]) });
    const night = { cron: '0 1 * * *', lasts: 3_600_000 };
    const day = { cron: '0 11 * * *', lasts: 2 * 3_600_000 };
    const configuration: Configuration = {
      fleets: { shop: servers('12', '34'), blog: servers('13', '35') },
      windows: { nights: { ...night, for: { fleets: ['shop'] } }, days: { ...day, for: { fleets: ['blog'] } } },
      approvals: { boss: { need: 1, proof: 'none', for: { fleets: ['blog'] } } },
    };
    const { frozenBy, approvalsFor } = policyOf(configuration);
    const noonMs = Date.parse('2026-03-02T12:00:00Z');
    const asked = { target: siteTarget('34'), serverId: '12', fleet: 'blog' };
    assert.deepEqual(
      frozenBy(asked, noonMs).map(({ name }) => name),
      ['nights'],
    );
    assert.deepEqual(
      approvalsFor(asked).map(({ rule }) => rule.name),
      ['boss'],
    );
    const elsewhere = { target: siteTarget('99'), fleet: 'shop' };
    assert.deepEqual(
      frozenBy(elsewhere, noonMs).map(({ name }) => name),
      ['nights'],
    );
  });
});
