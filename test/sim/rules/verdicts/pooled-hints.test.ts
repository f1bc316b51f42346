/** A hint beside a pooled wait: the reads that the pool keeps say as much as those of the loop. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { reads } from '../../../support/journal.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { namedSite } from './named-site.ts';
import { latest } from '../runs/runs-that-wait.ts';

/** Hints between the fifth read after the request and the sixth, which is then the hinted one. */
async function hinted(stack: VirtualStack, waits: 'loop' | 'pooled', old: object, now: object[], intervalMs = 2_000) {
  const siteId = namedSite(stack.sandbox, { old, answered: {}, now });
  const run = stack.start({ siteIds: [siteId], deploy: { intervalMs, tries: 60 }, waits });
  await stack.until('five reads after the request', () => reads(stack.sandbox, latest(siteId)).length === 7);
  await stack.forward(500);
  stack.signal(deploySiteId(siteId), SIGNALS.hint, {});
  return stack.result(run);
}

const is = (status: string, id?: unknown) => ({ status, ...(id === undefined ? {} : { id }) });
const times = (count: number, it: object) => Array.from({ length: count }, () => it);

for (const waits of ['loop', 'pooled'] as const)
  describe(`a hinted read beside a wait of the ${waits}`, () => {
    test(
      'begins no row of settled reads that outlasts later reads in progress',
      inVirtualTime(async (stack) => {
        const [running, completed] = [is('running', 'app'), is('completed', 'app')];
        // A replica lags once at the hint, and for four reads near the end. The deployment fails.
        const now = [...times(5, running), completed, ...times(15, running), ...times(4, completed), running];
        const result = await hinted(stack, waits, completed, [...now, is('failed', 'app')]);
        assert.equal(verdictLine(result), 'failed by transition');
      }),
    );

    test(
      'does not keep the id that it saw in progress for ours, once ours was in progress again',
      inVirtualTime(async (stack) => {
        const now = [...times(5, is('running', 2)), is('running', 3), ...times(15, is('running', 2)), is('failed', 2)];
        const result = await hinted(stack, waits, is('completed', 1), now);
        assert.equal(verdictLine(result), 'failed by transition');
      }),
    );

    test(
      'shows the last status, although the reads of before were of the pool',
      inVirtualTime(async (stack) => {
        const now = [...times(5, is('building')), is('publishing'), {}];
        const { deployments } = await hinted(stack, waits, is('completed'), now, 20_000);
        assert.deepEqual([deployments[0]?.outcome, deployments[0]?.lastStatus], ['unknown', 'publishing']);
      }),
    );
  });
