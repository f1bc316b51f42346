/** What a run has read of a site counts in the whole run: after a status, no 404 proves that it was never deployed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { status } from '../../../support/fault-answers.ts';
import { reads } from '../../../support/journal.ts';
import { COMPLETED, siteAfter } from '../../../support/sites.ts';
import { freezeNow, thawNow } from '../../stack/freeze-now.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { isWaiting } from '../runs/freezes/frozen-waits.ts';
import { begun, latest } from '../runs/runs-that-wait.ts';

describe('a run that has read a status of its site', () => {
  for (const waits of [false, true])
    test(
      `takes no 404 for a site that was never deployed ${waits ? 'after it waited for a freeze' : 'without a wait'}`,
      inVirtualTime(async (stack) => {
        const { world, sandbox, start } = stack;
        const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
        // The request is lost, and has no effect.
        sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'reset' } });
        if (waits) freezeNow(world.server);
        else sandbox.fault({ route: 'latest', target: siteId, skip: 1, times: 3, ...status(404) });
        const run = start({ siteIds: [siteId], ifFrozen: 'wait', deploy: { onAmbiguous: 'stop' } });
        if (waits) {
          await isWaiting(stack, { run });
          assert.deepEqual(
            reads(sandbox, latest(siteId)).map(({ said }) => said),
            ['completed'],
          );
          sandbox.fault({ route: 'latest', target: siteId, times: 3, ...status(404) });
          await thawNow(world.server);
        }
        const result = await stack.result(run);
        assert.deepEqual([result.outcome, begun(stack, siteId)], ['unknown', 0]);
      }),
    );

  test(
    'takes no 404 for a site that was never deployed in the operation after one that a freeze kept back',
    inVirtualTime(async (stack) => {
      const { world, sandbox, start, until } = stack;
      const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
      sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'reset' } });
      // The first check fails, and the baseline of the first operation shows `completed`.
      sandbox.fault({ route: 'latest', target: siteId, ...status(500) });
      const run = start({ siteIds: [siteId], ifFrozen: 'wait', deploy: { onAmbiguous: 'stop' } });
      await until('the baseline', () => reads(sandbox, latest(siteId)).at(-1)?.said === 'completed');
      freezeNow(world.server);
      await isWaiting(stack, { run });
      sandbox.fault({ route: 'latest', target: siteId, times: 3, ...status(404) });
      await thawNow(world.server);
      const result = await stack.result(run);
      assert.deepEqual([result.outcome, begun(stack, siteId)], ['unknown', 0]);
    }),
  );

  test(
    'waits at its baseline until a token that is being rotated is accepted again',
    inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
      const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
      sandbox.fault({ route: 'latest', target: siteId, skip: 1, times: 3, ...status(401) });
      const { outcome } = await resultOf(start({ siteIds: [siteId] }));
      assert.equal(outcome, 'completed');
    }),
  );
});
