/** The worker holds a run to its inventory, whatever started it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Configuration } from '../../../../src/config/load.ts';
import type { RunInput } from '../../../../src/contract/run.ts';
import { outcomesOf } from '../../../support/rollouts.ts';
import { endOfRollout } from '../../plays/start-rollout.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { freezeNow } from '../../stack/freeze-now.ts';
import { begin } from '../rollouts/rollouts-in-flight.ts';
import { deployPosts } from './runs-that-wait.ts';
import { backupPosts, verdictOf } from './verdict-of.ts';

const HOUR_MS = 3_600_000;
const servers = new Map([['12', { sites: ['34'] }]]);
const configuration: Configuration = { fleets: { shop: { servers } } };

async function refused(stack: VirtualStack, input: RunInput) {
  const result = await stack.result(stack.start(input));
  assert.deepEqual(verdictOf(result), ['not_started', 'Usage']);
  assert.ok(result.deployments.every(({ outcome, polls }) => outcome === 'not_started' && polls === 0));
  const [serverId = ''] = [input.serverId].filter((it) => it !== undefined);
  const sent = (input.siteIds ?? []).map((it) => deployPosts(stack, it));
  assert.deepEqual([backupPosts(stack, serverId), ...sent], [0, ...sent.map(() => 0)]);
  return result.error?.message ?? '';
}

describe('the inventory of the worker', () => {
  test(
    'refuses a site that it has on another server, and makes no backup',
    inVirtualTime(
      async (stack) => {
        const message = await refused(stack, { serverId: '99', siteIds: ['34'] });
        assert.match(message, /the worker's belay\.yaml \(fleets\.shop\.servers\.12\): site 34 belongs to server 12/);
      },
      { configuration },
    ),
  );

  test(
    'refuses another spelling of a site, which would have another lock, freeze and approval',
    inVirtualTime(
      async (stack) => {
        const message = await refused(stack, { siteIds: ['034'] });
        assert.match(message, /site 034 differs from the known site 34 only in its spelling/);
      },
      { configuration },
    ),
  );

  test(
    'refuses an unknown site only if it is strict',
    inVirtualTime(
      async (stack) => {
        assert.match(await refused(stack, { siteIds: ['35'] }), /the inventory is strict/);
      },
      { configuration: { ...configuration, inventory: 'strict' } },
    ),
  );

  test(
    'holds a run that has waited to the file as it is when its request leaves',
    inVirtualTime(
      async (stack) => {
        freezeNow(stack.world.server, { forMs: HOUR_MS });
        const run = stack.start({ serverId: '12', siteIds: ['34'], ifFrozen: 'wait' });
        await stack.forward(HOUR_MS / 2);
        stack.world.endWorkers();
        const moved = new Map([
          ['12', { sites: [] }],
          ['13', { sites: ['34'] }],
        ]);
        stack.world.addWorker({ configuration: { fleets: { shop: { servers: moved } } } });
        const result = await stack.result(run);
        assert.deepEqual(verdictOf(result), ['not_started', 'Usage']);
        assert.match(result.error?.message ?? '', /not sent: .*site 34 belongs to server 13, not to 12/);
        assert.equal(deployPosts(stack, '34'), 0);
      },
      { configuration },
    ),
  );

  test(
    'refuses a rollout before its first server',
    inVirtualTime(
      async (stack) => {
        const rollout = begin(stack, [
          { serverId: '11', siteIds: ['30'] },
          { serverId: '99', siteIds: ['34'] },
        ]);
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Usage']);
        assert.match(result.error?.message ?? '', /site 34 belongs to server 12/);
        assert.deepEqual(outcomesOf(result), ['not_started', 'not_started']);
        assert.deepEqual([backupPosts(stack, '11'), backupPosts(stack, '99')], [0, 0]);
      },
      { configuration },
    ),
  );
});
