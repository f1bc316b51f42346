/** Answers that ask to wait. How a worker holds its requests back is in test/integration/runs/rate-limits.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { status } from '../../../support/fault-answers.ts';
import { began, posts, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack.ts';
import { building, latest } from '../runs/runs-that-wait.ts';

describe('rate limits', () => {
  test(
    'reads answered 429 use no try and never end a run, however many they are',
    inVirtualTime(async (stack) => {
      const { sandbox, until, result } = stack;
      const { siteId, run } = await building(stack);
      sandbox.fault({ ...status(429), route: 'latest', target: siteId, times: 40 });
      const limited = () => reads(sandbox, latest(siteId)).filter(({ fault }) => fault !== null).length;
      await until('the last 429', () => limited() === 40);
      sandbox.finish({ site: siteId }, 'completed');
      const { outcome, error } = await result(run);
      assert.equal(outcome, 'completed', error?.message);
    }),
  );

  test(
    'a POST answered 429 is sent again no sooner than the service asks, and deploys once',
    inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
      const siteId = siteAfter(sandbox, FAILED, COMPLETED);
      sandbox.fault({ ...status(429, '47'), route: 'deploy', target: siteId });
      const result = await resultOf(start({ siteIds: [siteId] }));
      assert.equal(result.outcome, 'completed');
      assert.equal(result.deployments[0]?.trigger.attempts, 2);
      const [first, second, third] = posts(sandbox, `/v1/sites/${siteId}/deploy`);
      assert.ok(Date.parse(second!.at) - Date.parse(first!.at) >= 47_000);
      assert.equal(third, undefined);
      assert.equal(began(sandbox, 'deployment', siteId).length, 1);
    }),
  );
});
