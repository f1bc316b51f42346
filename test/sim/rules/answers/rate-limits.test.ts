/** Answers that ask to wait. How a worker holds its requests back is in test/integration/runs/rate-limits.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { status } from '../../../support/fault-answers.ts';
import { began, posts, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime } from '../../stack/stack.ts';
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

  for (const code of [429, 503]) {
    test(
      `reads answered ${code} with a Retry-After that is over are made once a second`,
      inVirtualTime(async (stack) => {
        const { sandbox, until, result } = stack;
        const { siteId, run } = await building(stack);
        sandbox.fault({ ...status(code, '0'), route: 'latest', target: siteId, times: 20 });
        const limited = () => reads(sandbox, latest(siteId)).filter(({ fault }) => fault !== null);
        await until('the last one', () => limited().length === 20);
        const atMs = limited().map(({ at }) => Date.parse(at));
        for (const [index, ms] of atMs.slice(1).entries()) assert.ok(ms - atMs[index]! >= 1_000, atMs.join());
        sandbox.finish({ site: siteId }, 'completed');
        assert.equal((await result(run)).outcome, 'completed');
      }),
    );
  }

  test(
    'an answer that asks to wait holds all requests of its worker back, also those of other runs',
    inVirtualTime(async (stack) => {
      const { sandbox, until, forward, result } = stack;
      const [one, other] = [await building(stack), await building(stack)];
      sandbox.fault({ ...status(429, '90'), route: 'latest', target: one.siteId });
      const limited = await until('the 429', () => sandbox.journal.find(({ fault }) => fault !== null));
      await forward(120_000);
      const sinceMs = (siteId: string) =>
        reads(sandbox, latest(siteId)).flatMap(({ at }) =>
          at > limited.at ? [Date.parse(at) - Date.parse(limited.at)] : [],
        );
      for (const { siteId } of [one, other]) assert.ok(sinceMs(siteId)[0]! >= 90_000, `${sinceMs(siteId)[0]} ms`);
      for (const { siteId } of [one, other]) sandbox.finish({ site: siteId }, 'completed');
      for (const { run } of [one, other]) assert.equal((await result(run)).outcome, 'completed');
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

  test(
    'the checks of several targets are replayed as they were made, although one is held back and another is slow',
    inVirtualTime(
      async ({ sandbox, start, result }) => {
        const [heldBack, slow] = [siteAfter(sandbox, FAILED, COMPLETED), siteAfter(sandbox, FAILED, COMPLETED)];
        sandbox.fault({ ...status(429, '2'), route: 'latest', target: heldBack });
        sandbox.fault({ answer: { kind: 'true' }, delayMs: 2_000, route: 'latest', target: slow });
        const { outcome, error } = await result(start({ siteIds: [slow, heldBack] }));
        assert.equal(outcome, 'completed', error?.message);
      },
      { cacheSize: 0 },
    ),
  );
});
