/** A freeze begins only once a worker has confirmed that it is in force. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Configuration } from '../../../../../src/config/load.ts';
import { TIMING } from '../../../../../src/contract/timing.ts';
import type { FreezeScope, FreezeConfirmation } from '../../../../../src/features/freezes/shapes.ts';
import { CONFIRM_UPDATE } from '../../../../../src/contract/names.ts';
import { policyOf } from '../../../../../src/config/policy.ts';
import { freezeNow } from '../../../stack/freeze-now.ts';
import { inVirtualTime, type VirtualStack } from '../../../stack/stack.ts';
import { statusOf } from '../../../temporal/list-query.ts';

const configuration: Configuration = {
  fleets: { shop: { servers: new Map([['12', { sites: ['34', '35', 'a1'] }]]) } },
};

const answered = async (stack: VirtualStack, scope: FreezeScope) => {
  const { server } = stack.world;
  const startedMs = server.nowMs();
  const freeze = freezeNow(server, { scope });
  const update = server.update(freeze, CONFIRM_UPDATE, []);
  await stack.until('the confirmation of the worker', () => update.outcome);
  return { freeze, tookMs: server.nowMs() - startedMs };
};

describe('a freeze', () => {
  test(
    'is confirmed once nothing can leave any more that a worker judged before it began',
    inVirtualTime(
      async (stack) => {
        const { freeze, tookMs } = await answered(stack, { kind: 'fleet', id: 'shop' });
        assert.ok(tookMs >= TIMING.post.permitMs, `${tookMs}`);
        assert.equal(statusOf(freeze), 'Running');
      },
      { configuration },
    ),
  );

  test(
    'ends by itself if the worker has no such fleet, also if no one asks',
    inVirtualTime(
      async (stack) => {
        const { freeze } = await answered(stack, { kind: 'fleet', id: 'blog' });
        await stack.until('its end', () => freeze.closedMs !== null);
        const unasked = freezeNow(stack.world.server, { scope: { kind: 'fleet', id: 'blog' } });
        await stack.until('its end', () => unasked.closedMs !== null);
        assert.deepEqual([statusOf(freeze), statusOf(unasked)], ['Failed', 'Failed']);
      },
      { configuration },
    ),
  );

  test(
    'that extends one stays in force although the worker has no such fleet any more',
    inVirtualTime(
      async (stack) => {
        const { server } = stack.world;
        const later = freezeNow(server, { scope: { kind: 'fleet', id: 'blog' } }, true);
        const update = server.update(later, CONFIRM_UPDATE, []);
        await stack.until('the confirmation of the worker', () => update.outcome);
        await stack.forward(10 * 60_000);
        assert.equal(statusOf(later), 'Running');
        await stack.until('its end', () => later.closedMs !== null);
        assert.equal(statusOf(later), 'Completed');
      },
      { configuration },
    ),
  );
});

describe('the confirmation of a freeze by a worker', () => {
  const confirmation = (scope: FreezeScope, file = configuration): FreezeConfirmation => policyOf(file).confirm(scope);
  const site = (id: string): FreezeScope => ({ kind: 'site', id });
  const server = (id: string): FreezeScope => ({ kind: 'server', id });

  test('is a refusal for an unknown fleet, another spelling, and a list', () => {
    const problemOf = (scope: FreezeScope, file = configuration) => confirmation(scope, file).problem ?? '';
    assert.match(problemOf({ kind: 'fleet', id: 'blog' }), /no fleet blog, only shop: correct the name, or add/);
    assert.match(problemOf({ kind: 'fleet', id: 'shop' }, {}), /it has no fleets/);
    assert.match(problemOf(site('A1')), /differs from the known site a1/);
    assert.match(problemOf(server('012')), /differs from the known server 12/);
    for (const list of ['34,35', '34, 35', '34;35', '34 99'])
      assert.match(problemOf(site(list)), /is a list: give --site once for each/);
    assert.match(problemOf(site('99'), { ...configuration, inventory: 'strict' }), /no fleet has site 99/);
  });

  test('is a note for an unknown id of a fleet, or one that looks like a list or an address', () => {
    const named = [confirmation(site('99')), confirmation(server('99')), confirmation(server('99'), {})];
    for (const { note } of named) assert.match(note ?? '', /holds back only what names exactly this id/);
    for (const odd of ['a4,a5', 'a4;a5', 'a4 a5', 'https://shop.example'])
      assert.match(confirmation(site(odd), {}).note ?? '', /is taken as one id: check it/);
  });

  test('is nothing to note for what it knows', () => {
    for (const scope of [{ kind: 'all' } as const, { kind: 'fleet', id: 'shop' } as const, site('34')])
      assert.deepEqual(confirmation(scope), { problem: null, note: null });
    assert.deepEqual(confirmation(site('99'), {}), { problem: null, note: null });
  });
});
