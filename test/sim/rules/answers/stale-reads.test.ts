/** A POST is decided by reads, and is not sent if Temporal learns of the decision long after them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { status } from '../../../support/fault-answers.ts';
import { posts, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';

const DOWN_MS = 30_000;

const readsOf = ({ sandbox }: VirtualStack, siteId: string) => reads(sandbox, `/v1/sites/${siteId}/deployments/latest`);
const postsOf = ({ sandbox }: VirtualStack, siteId: string) => posts(sandbox, `/v1/sites/${siteId}/deploy`);

/** The worker cannot report this read before Temporal is back. */
async function loseTemporalAfterRead(stack: VirtualStack, siteId: string, count: number): Promise<void> {
  await stack.until(`read ${count}`, () => readsOf(stack, siteId).length >= count);
  stack.world.downServer(DOWN_MS);
}

describe('a POST after reads that are long over', () => {
  test(
    'waits for a new baseline, so that no push in between counts as its deployment',
    inVirtualTime(async (stack) => {
      const { sandbox, start, result } = stack;
      const siteId = siteAfter(sandbox, COMPLETED, FAILED, { durationMs: 60_000, words: ['building'] });
      const run = start({ siteIds: [siteId] });
      await loseTemporalAfterRead(stack, siteId, 2);
      await stack.forward(DOWN_MS / 2);
      sandbox.act({ site: siteId });
      const { outcome, deployments } = await result(run);
      assert.equal(outcome, 'completed');
      assert.deepEqual(deployments[0]?.trigger, { attempts: 1, ambiguous: false, reconciledBy: null });
      const sentMs = Date.parse(postsOf(stack, siteId)[0]!.at);
      const readMs = Math.max(
        ...readsOf(stack, siteId)
          .map(({ at }) => Date.parse(at))
          .filter((ms) => ms < sentMs),
      );
      assert.ok(sentMs - readMs < 5_000, `${sentMs - readMs}`);
    }),
  );

  test(
    'is not sent again after one in doubt: the run ends unknown, because a trace may have been missed',
    inVirtualTime(async (stack) => {
      const { sandbox, start, result } = stack;
      const deploy = async (act: (siteId: string) => Promise<unknown>) => {
        const siteId = siteAfter(sandbox, COMPLETED);
        sandbox.fault({ ...status(500), route: 'deploy', target: siteId });
        const run = start({ siteIds: [siteId] });
        await act(siteId);
        return { siteId, ...(await result(run)) };
      };
      const undisturbed = await deploy(() => Promise.resolve());
      const [, second] = postsOf(stack, undisturbed.siteId);
      const count = readsOf(stack, undisturbed.siteId).filter(({ at }) => at < second!.at).length;
      const late = await deploy((siteId) => loseTemporalAfterRead(stack, siteId, count));
      assert.equal(late.outcome, 'unknown');
      assert.match(late.error!.message, /the request left no trace, but the status was not read for a while/);
      assert.deepEqual(late.deployments[0]?.trigger, { attempts: 1, ambiguous: true, reconciledBy: null });
      assert.equal(postsOf(stack, late.siteId).length, 1);
    }),
  );
});
