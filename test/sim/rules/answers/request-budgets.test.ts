/** How long a request may be sent again: the waits that come before it have budgets of their own. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunInput } from '../../../../src/contract/run.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import { status } from '../../../support/fault-answers.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { begun } from '../runs/runs-that-wait.ts';

const MINUTE = 60_000;

/** @param answers to the requests, one after another; the next one is accepted */
async function deployed(stack: VirtualStack, answers: Partial<Fault>[], deploy: RunInput['deploy'] = {}) {
  const siteId = siteAfter(stack.sandbox, FAILED, COMPLETED);
  stack.sandbox.fault(...answers.map((it) => ({ ...status(409), ...it, route: 'deploy', target: siteId }) as const));
  return { siteId, ...(await stack.result(stack.start({ siteIds: [siteId], deploy }))) };
}

describe('a request that may be sent again', () => {
  for (const code of [401, 429])
    test(
      `is sent again after ${code}, although it waited longer for another deployment than it may be repeated`,
      inVirtualTime(async (stack) => {
        const end = await deployed(stack, [{ times: 45 }, status(code)], { baselineWaitMs: 30 * MINUTE });
        assert.equal(verdictLine(end), 'completed by changed');
        assert.deepEqual([end.deployments[0]?.trigger.attempts, begun(stack, end.siteId)], [47, 1]);
      }),
    );

  test(
    'is sent again after a baseline that waited longer for a push than it may be repeated',
    inVirtualTime(async (stack) => {
      const { sandbox, start, until, result } = stack;
      const push = { durationMs: 10 * MINUTE, ends: 'completed', words: ['building'] };
      const siteId = siteAfter(sandbox, COMPLETED, push, FAILED);
      sandbox.fault({ ...status(429), route: 'deploy', target: siteId, times: 2 });
      const run = start({ siteIds: [siteId], deploy: { baselineWaitMs: 30 * MINUTE } });
      await until('the first request', () => sandbox.journal.some(({ fault }) => fault !== null));
      sandbox.act({ site: siteId });
      assert.equal(verdictLine(await result(run)), 'failed by changed');
      assert.equal(begun(stack, siteId), 1);
    }),
  );

  test(
    'is sent again after 401, although it was held back before for longer than a token may be refused',
    inVirtualTime(async (stack) => {
      const end = await deployed(stack, [status(429, '150'), status(401)]);
      assert.equal(verdictLine(end), 'completed by changed');
      assert.equal(begun(stack, end.siteId), 1);
    }),
  );
});
