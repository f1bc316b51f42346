/** Answers around the end of their question: one that counts lets its run deploy, and no other does. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inVirtualTime, type VirtualStack } from '../../../stack/stack.ts';
import { deployPosts } from '../runs-that-wait.ts';
import { ANA, answer, asking, isAsking, signedAnswer, startAsking } from './answers.ts';

const HOUR = 3_600_000;

/** @param afterMs from the end of the question to the answer @returns why it does not count, and what became of the run */
async function answeredAt(stack: VirtualStack, afterMs: number) {
  const { run, siteId } = startAsking(stack);
  const question = await isAsking(stack, run);
  await stack.forward(Date.parse(question.until) + afterMs - stack.world.clock.nowMs);
  const problem = await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana'));
  const { outcome } = await stack.result(run);
  return [problem, outcome, deployPosts(stack, siteId)];
}

describe('an answer around the end of its question', () => {
  for (const [afterMs, counts] of [
    [-1_000, true],
    [-1, null],
    [0, null],
    [1, null],
    [1_000, false],
  ] as const)
    test(
      `counts and lets its run deploy, or does neither, ${afterMs} ms after it`,
      inVirtualTime(
        async (stack) => {
          const [problem, ...rest] = await answeredAt(stack, afterMs);
          if (counts !== null) assert.equal(problem === null, counts);
          assert.deepEqual(rest, problem === null ? ['completed', 1] : ['not_started', 0]);
        },
        asking({ expiry: HOUR }),
      ),
    );

  test(
    'does not count if the worker comes back after it',
    inVirtualTime(
      async (stack) => {
        const { run, siteId } = startAsking(stack);
        const question = await isAsking(stack, run);
        await stack.forward(Date.parse(question.until) - 1_000 - stack.world.clock.nowMs);
        stack.world.restartWorkers(30_000);
        const problem = await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana'));
        assert.match(problem ?? 'it counts', /nothing is asked now|the question is over|it has ended/);
        assert.deepEqual([(await stack.result(run)).outcome, deployPosts(stack, siteId)], ['not_started', 0]);
      },
      asking({ expiry: HOUR }),
    ),
  );
});
