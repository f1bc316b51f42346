/** A pooled wait whose first tries failed: its tries go on after the whole time, in which failed reads are repeated. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { status } from '../../../support/fault-answers.ts';
import { reads } from '../../../support/journal.ts';
import { siteAfter, FAILED } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { BUILDING, latest } from '../runs/runs-that-wait.ts';

describe('a wait whose first tries failed', () => {
  for (const waits of ['loop', 'pooled'] as const)
    test(
      `makes no more tries than it has, and counts its reads: ${waits}`,
      inVirtualTime(async (stack) => {
        const { sandbox, start, result } = stack;
        const siteId = siteAfter(sandbox, FAILED, BUILDING);
        // The check and the baseline come first, and then the two early reads.
        sandbox.fault({ route: 'latest', target: siteId, skip: 4, times: 8, ...status(500) });
        const run = start({ siteIds: [siteId], deploy: { intervalMs: 10_000, tries: 12 }, waits });
        const { outcome, deployments } = await result(run);
        const { polls, acceptedAt, endedAt } = deployments[0]!;
        const tookMs = Date.parse(endedAt!) - Date.parse(acceptedAt!);
        const answered = reads(sandbox, latest(siteId)).filter(({ fault }) => fault === null).length;
        // Without the read of the check of the run.
        assert.deepEqual([outcome, polls, Math.round(tookMs / 1_000)], ['timed_out', answered - 1, 200]);
      }),
    );
});
