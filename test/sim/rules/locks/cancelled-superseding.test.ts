/** Runs that are replaced and cancelled in the same moment. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { QUERIES, SIGNALS } from '../../../../src/contract/names.ts';
import type { RunProgress, RunResult } from '../../../../src/contract/run.ts';
import { siteTarget } from '../../../../src/contract/target.ts';
import { reads } from '../../../support/journal.ts';
import { siteAfter } from '../../../support/sites.ts';
import { BUILDING, deployPosts, latest } from '../runs/runs-that-wait.ts';
import { inVirtualTime, MOMENT_MS, type VirtualStack } from '../../stack/stack.ts';
import { newerThan } from './superseded.ts';

/** Cancels a run this long after a newer one replaces it, while its operation waits for another deployment. */
async function replacedAndCancelled(stack: VirtualStack, afterMs: number): Promise<RunResult> {
  const { sandbox, start, until, signal, cancel, result, query, forward } = stack;
  const siteId = siteAfter(sandbox, BUILDING);
  const run = start({ siteIds: [siteId] });
  await until('the wait for the baseline', () => reads(sandbox, latest(siteId)).length > 1);
  await forward(MOMENT_MS);
  const { service } = (await query<RunProgress>(run.workflowId, QUERIES.progress)).result;
  const newer = newerThan(run, { service, serverId: '', siteIds: [siteId] });
  Object.assign(newer.work, { type: 'deployOnly', serverId: null, targets: [siteTarget(siteId)] });
  signal(run.workflowId, SIGNALS.superseded, newer);
  if (afterMs > 0) await forward(afterMs);
  if (run.closedMs === null) cancel(run);
  const ended = await result(run);
  assert.equal(deployPosts(stack, siteId), 0);
  assert.notEqual(stack.world.server.find(deploySiteId(siteId))!.closedMs, null);
  return ended;
}

describe('a run that is replaced and cancelled', () => {
  test(
    'names the newer run exactly if it says that it was replaced',
    inVirtualTime(async (stack) => {
      const wrong: string[] = [];
      const seen = new Set<string | undefined>();
      for (const afterMs of [0, 2, 4, 8, 16, 40]) {
        const { error, supersededBy, outcome, deployments } = await replacedAndCancelled(stack, afterMs);
        seen.add(error?.type);
        assert.equal(outcome, 'not_started');
        if ((error?.type === 'Superseded') !== (supersededBy !== null))
          wrong.push(`${afterMs} ms: ${error?.type} by ${supersededBy?.workflowId}, ${deployments[0]?.error?.type}`);
      }
      assert.deepEqual([...seen], ['Cancelled', 'Superseded']);
      assert.deepEqual(wrong, []);
    }),
  );
});
