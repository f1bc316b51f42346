/** A run that is cancelled before any request reached the service. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fresh } from '../../../support/fresh.ts';
import { AT_ONCE_MS } from '../locks/held-locks.ts';
import { deployPosts } from '../runs/runs-that-wait.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { beforeRequest } from './runs-in-outages.ts';

describe('a run that is cancelled', () => {
  test(
    'is not started if its only request found no connection, as its only part is',
    inVirtualTime(async (stack) => {
      const { siteId, run } = await beforeRequest(stack);
      await stack.forward(500);
      stack.cancel(run);
      const { outcome, error, deployments } = await stack.result(run);
      assert.equal(deployPosts(stack, siteId), 0);
      assert.deepEqual([outcome, deployments[0]?.outcome], ['not_started', 'not_started']);
      assert.deepEqual([error?.type, deployments[0]?.trigger.attempts], ['Cancelled', 1]);
    }),
  );

  test(
    'ends at once while the service answers no check of its many targets',
    inVirtualTime(async (stack) => {
      const siteIds = Array.from({ length: 50 }, () => fresh('a'));
      stack.sandbox.fault({ route: 'latest', answer: { kind: 'none' }, times: 999 });
      const run = stack.start({ siteIds });
      await stack.forward(2_000);
      const cancelledMs = stack.world.clock.nowMs;
      stack.cancel(run);
      const { outcome, error } = await stack.result(run);
      assert.deepEqual([outcome, error?.type], ['not_started', 'Cancelled']);
      assert.ok(run.closedMs! - cancelledMs < AT_ONCE_MS, `${run.closedMs! - cancelledMs} ms`);
    }),
  );
});
