/** What was approved is judged once more where each deployment is requested, with the signers of that worker. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { allowedSigners } from '../../../../support/ssh-signer.ts';
import { fresh } from '../../../../support/fresh.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../../support/sites.ts';
import { inVirtualTime } from '../../../stack/stack.ts';
import { deployPosts } from '../runs-that-wait.ts';
import { backupPosts, verdictOf } from '../verdict-of.ts';
import { ANA, answer, asking, BOB, isAsking, signedAnswer, SIGNERS_FILE, startAsking } from './answers.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

describe('an approved deployment', () => {
  test(
    'is not requested once its signer was taken out of the file, although its backup was made',
    inVirtualTime(async (stack) => {
      const { run, serverId, siteId } = startAsking(stack);
      const question = await isAsking(stack, run);
      assert.equal(await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana')), null);
      await stack.until('its backup', () => backupPosts(stack, serverId) > 0);
      stack.world.files.set(SIGNERS_FILE, allowedSigners({ bob: BOB }));
      const result = await stack.result(run);
      assert.deepEqual([...verdictOf(result), deployPosts(stack, siteId)], ['not_started', 'Refused', 0]);
      assert.match(
        result.error?.message ?? '',
        /only 0 of 1 approvals \(production\) count now: the key SHA256:\S+ is not/,
      );
      assert.deepEqual([result.backup?.outcome, result.deployments[0]?.trigger.attempts], ['completed', 0]);
    }, asking()),
  );

  test(
    'waits for a worker that can read the signers',
    inVirtualTime(async (stack) => {
      const { run, serverId, siteId } = startAsking(stack);
      const question = await isAsking(stack, run);
      await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana'));
      await stack.until('its backup', () => backupPosts(stack, serverId) > 0);
      const signers = stack.world.files.get(SIGNERS_FILE)!;
      stack.world.files.clear();
      await stack.forward(2 * MINUTE);
      assert.equal(deployPosts(stack, siteId), 0);
      stack.world.files.set(SIGNERS_FILE, signers);
      assert.deepEqual([(await stack.result(run)).outcome, deployPosts(stack, siteId)], ['completed', 1]);
    }, asking()),
  );

  test(
    'is not requested once its approval is no longer good, which counts from the last yes to each begin',
    inVirtualTime(
      async (stack) => {
        const sites = [1, 2].map(() => siteAfter(stack.sandbox, FAILED, { ...COMPLETED, durationMs: 3 * MINUTE }));
        const run = stack.start({ serverId: fresh('s'), siteIds: sites });
        const question = await isAsking(stack, run);
        await stack.forward(10 * MINUTE);
        await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana'));
        const result = await stack.result(run);
        assert.deepEqual(
          result.deployments.map(({ outcome, error }) => [outcome, error?.type]),
          [
            ['completed', undefined],
            ['not_started', 'ApprovalExpired'],
          ],
        );
        assert.deepEqual(verdictOf(result), ['not_started', 'ApprovalExpired']);
        assert.deepEqual(
          sites.map((siteId) => deployPosts(stack, siteId)),
          [1, 0],
        );
      },
      asking({ goodFor: 3 * MINUTE }),
    ),
  );

  test(
    'costs a run that waits for its approval few events',
    inVirtualTime(async (stack) => {
      const { run } = startAsking(stack);
      const question = await isAsking(stack, run);
      const before = run.history.length;
      await stack.forward(20 * 60 * MINUTE);
      await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana'));
      await stack.until('its backup', () => run.history.some(({ kind }) => kind === 'childInitiated'));
      assert.ok(run.history.length - before < 50, `${run.history.length - before} events`);
      await stack.result(run);
    }, asking()),
  );
});

describe('an answer', () => {
  // Its verification takes a millisecond.
  for (const [what, downMs, afterMs] of [
    ['is counted once if the worker is lost while it is verified', 500, 0],
    ['is counted once if the worker is lost 1 ms after it came', 500, 1],
    ['is counted once if the worker is lost 2 ms after it came', 500, 2],
    ['is counted once if the worker is lost 3 ms after it came', 500, 3],
    ['waits for a worker if none runs', 30 * SECOND, 0],
  ] as const) {
    test(
      what,
      inVirtualTime(
        async (stack) => {
          const { run, siteId } = startAsking(stack);
          const question = await isAsking(stack, run);
          const { server } = stack.world;
          const given = signedAnswer(ANA, question, 'ana');
          const update = server.update(run, 'approve', [payloads.toPayload(given)]);
          if (afterMs > 0) await stack.forward(afterMs);
          stack.world.restartWorkers(downMs);
          const outcome = await stack.until('its answer', () => update.outcome);
          assert.ok(outcome !== 'absent' && 'result' in outcome);
          const after = await isAsking(stack, run);
          assert.deepEqual(after.asked[0]?.by, ['ana']);
          assert.equal(await answer(stack, run, 'approve', signedAnswer(BOB, question, 'bob')), null);
          const result = await stack.result(run);
          assert.deepEqual(
            [result.outcome, result.held[0]?.by, deployPosts(stack, siteId)],
            ['completed', 'ana, bob', 1],
          );
        },
        asking({ need: 2 }),
      ),
    );
  }
});
