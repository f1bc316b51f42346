/** A Retry-After beside hints. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { status } from '../../../support/fault-answers.ts';
import { reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { latest } from '../runs/runs-that-wait.ts';

describe('a Retry-After of a failed read', () => {
  for (const hints of [false, true])
    test(
      `holds for the next try ${hints ? 'although a hinted read failed meanwhile' : 'without hints'}`,
      inVirtualTime(async (stack) => {
        const { sandbox, start, until, forward, signal, result } = stack;
        const siteId = siteAfter(sandbox, FAILED, COMPLETED);
        // The check and the baseline come first.
        sandbox.fault({ route: 'latest', target: siteId, skip: 2, ...status(500, '100') });
        if (hints) sandbox.fault({ route: 'latest', target: siteId, skip: 2, ...status(500) });
        const run = start({ siteIds: [siteId] });
        const failed = await until('the failed read', () => reads(sandbox, latest(siteId))[2]);
        await forward(1_500);
        if (hints) signal(deploySiteId(siteId), SIGNALS.hint, {});
        assert.equal((await result(run)).outcome, 'completed');
        const tries = reads(sandbox, latest(siteId)).slice(hints ? 4 : 3);
        const afterMs = Date.parse(tries[0]!.at) - Date.parse(failed.at);
        assert.ok(afterMs >= 100_000, `${afterMs} ms`);
      }),
    );
});
