/** A request in doubt whose settle time is long beside its interval. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { status } from '../../../support/fault-answers.ts';
import { deployPosts, latest } from '../runs/runs-that-wait.ts';
import { posts, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack/stack.ts';

describe('a request in doubt, with a long settle time', () => {
  for (const failing of [0, 1])
    test(
      `is sent once more after ${failing} failed reads near the end of the settle time`,
      inVirtualTime(async (stack) => {
        const { sandbox, start } = stack;
        const siteId = siteAfter(sandbox, FAILED, COMPLETED);
        sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'none' } });
        const run = start({ siteIds: [siteId], deploy: { intervalMs: 1_000, settleMs: 60_000, tries: 100 } });
        await stack.until('the request', () => deployPosts(stack, siteId) > 0);
        await stack.forward(71_000);
        if (failing > 0) sandbox.fault({ route: 'latest', target: siteId, ...status(500) });
        const { outcome } = await stack.result(run);
        assert.equal(reads(sandbox, latest(siteId)).length > 70, true);
        assert.deepEqual([outcome, posts(sandbox, `/v1/sites/${siteId}/deploy`).length], ['completed', 2]);
      }),
    );
});
