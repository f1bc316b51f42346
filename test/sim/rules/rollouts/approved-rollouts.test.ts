/** A rollout that has to be approved: as a whole before its first server, and single waves before they start. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RolloutWave } from '../../../../src/features/rollouts/shapes.ts';
import type { RunMemo } from '../../../../src/contract/run.ts';
import { outcomesOf, servers } from '../../../support/rollouts.ts';
import { decide, endOfRollout, progressOf } from '../../plays/start-rollout.ts';
import type { VirtualStack } from '../../stack/stack.ts';
import { memoOf } from '../../temporal/client.ts';
import { ANA, answer, asking, AUDIT_ONLY, EVE, isAsking, signedAnswer } from '../runs/approvals/answers.ts';
import { ANNE, backups, begin, deployments, inFleet } from './rollouts-in-flight.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const begunOn = (stack: VirtualStack, targets: { serverId: string }[]): number =>
  targets.reduce((sum, { serverId }) => sum + backups(stack, serverId), 0);

/** A canary without a question, and then a wave that asks. */
function inTwoWaves(stack: VirtualStack, approval = 'production') {
  const [canary, ...others] = servers(3);
  const waves: RolloutWave[] = [
    { name: 'canary', targets: [canary] },
    { name: 'rest', approval, targets: others },
  ];
  return { canary, others, rollout: begin(stack, [], { waves }) };
}

/** Nothing needs it unless a wave names it. */
const FOR_NONE = { for: { sites: ['no such site'] } };

describe('a rollout that has to be approved', () => {
  test(
    'asks once for all its servers, starts none before, and each of them goes on with that approval',
    inFleet(async (stack) => {
      const targets = servers(5);
      const rollout = begin(stack, targets);
      const question = await isAsking(stack, rollout);
      assert.deepEqual(
        question.parts.map(({ serverId }) => serverId),
        targets.map(({ serverId }) => serverId),
      );
      assert.equal(question.plan.parts?.servers, 5);
      await stack.forward(10 * HOUR);
      assert.equal(begunOn(stack, targets), 0);
      assert.equal((await progressOf(stack, rollout)).waiting?.kind, 'approval');
      assert.equal(await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana')), null);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), Array(5).fill('completed'));
      assert.deepEqual(
        result.held.map(({ name, end, by }) => [name, end, by]),
        [['production', 'approved', 'ana']],
      );
      for (const { siteIds } of targets) assert.equal(deployments(stack, siteIds[0]), 1);
    }, asking()),
  );

  test(
    'asks for a wave once the earlier ones have ended, and only for its servers',
    inFleet(async (stack) => {
      const { canary, others, rollout } = inTwoWaves(stack);
      const question = await isAsking(stack, rollout);
      assert.deepEqual([begunOn(stack, [canary]), begunOn(stack, others)], [1, 0]);
      assert.deepEqual([question.plan.wave, question.parts.length], ['rest', 2]);
      assert.equal(await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana')), null);
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed', 'completed']);
    }, asking(FOR_NONE)),
  );

  test(
    'asks for a wave also after it was reset, and starts none of its servers before',
    inFleet(async (stack) => {
      const { others, rollout } = inTwoWaves(stack);
      rollout.firstRunId = 'the execution that was reset';
      const question = await isAsking(stack, rollout);
      assert.equal(question.plan.executionId, 'the execution that was reset');
      await stack.forward(HOUR);
      assert.equal(begunOn(stack, others), 0);
      const rejection = signedAnswer(ANA, question, 'ana', { decision: 'reject', why: 'it was reset' });
      assert.equal(await answer(stack, rollout, 'reject', rejection), null);
      const { outcome, error } = await endOfRollout(stack, rollout);
      assert.equal(outcome, 'unknown');
      assert.match(error?.message ?? '', /the workflow was reset, and may have sent requests before; .*it was reset/);
    }, asking(FOR_NONE)),
  );

  test(
    'starts the servers of a wave that is approved after it was reset',
    inFleet(async (stack) => {
      const { others, rollout } = inTwoWaves(stack);
      rollout.firstRunId = 'the execution that was reset';
      const question = await isAsking(stack, rollout);
      assert.equal(await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana')), null);
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed', 'completed']);
      for (const { siteIds } of others) assert.equal(deployments(stack, siteIds[0]), 1);
    }, asking(FOR_NONE)),
  );

  test(
    'asks before a wave what the policy wants for its servers, and not before the first one as well',
    inFleet(async (stack) => {
      const [canary, ...others] = servers(3);
      const waves: RolloutWave[] = [{ name: 'all', approval: 'production', targets: [canary, ...others] }];
      const rollout = begin(stack, [], { waves });
      const question = await isAsking(stack, rollout);
      assert.equal(question.plan.wave, 'all');
      await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana'));
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([result.outcome, result.held.length], ['completed', 1]);
    }, asking()),
  );

  test(
    'counts the answers that do not count for each of its questions',
    inFleet(async (stack) => {
      const waves = servers(2).map((it, index) => ({
        ...{ name: `wave-${index}`, approval: 'production', targets: [it] },
      }));
      const rollout = begin(stack, [], { waves });
      for (const { name } of waves) {
        const question = await isAsking(stack, rollout);
        assert.equal(question.plan.wave, name);
        const bad = signedAnswer(EVE, question, 'ana');
        for (let index = 0; index < 49; index += 1)
          assert.match((await answer(stack, rollout, 'approve', bad)) ?? '', /not in the file of signers/);
        assert.equal(await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana')), null);
      }
      assert.deepEqual(outcomesOf(await endOfRollout(stack, rollout)), ['completed', 'completed']);
    }, asking(FOR_NONE)),
  );

  test(
    'starts no more servers once a wave is rejected, and keeps what completed',
    inFleet(async (stack) => {
      const { others, rollout } = inTwoWaves(stack);
      const question = await isAsking(stack, rollout);
      const rejection = signedAnswer(ANA, question, 'ana', { decision: 'reject', why: 'the sale is on' });
      assert.equal(await answer(stack, rollout, 'reject', rejection), null);
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
      assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'ApprovalRejected']);
      assert.match(result.error?.message ?? '', /rejected by ana: the sale is on/);
      assert.deepEqual(
        result.decisions.map(({ action, by }) => [action, by]),
        [['stop', 'approval:production']],
      );
      assert.equal(begunOn(stack, others), 0);
    }, asking(FOR_NONE)),
  );

  test(
    'starts no server if no one decides in time',
    inFleet(
      async (stack) => {
        const targets = servers(2);
        const result = await endOfRollout(stack, begin(stack, targets));
        assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'ApprovalExpired']);
        assert.deepEqual([outcomesOf(result), begunOn(stack, targets)], [['not_started', 'not_started'], 0]);
      },
      asking({ expiry: HOUR }),
    ),
  );

  test(
    'starts no more servers once its approval is no longer good',
    inFleet(
      async (stack) => {
        const targets = servers(3);
        const rollout = begin(stack, targets, { maxAtOnce: 1, maxFailures: 3 });
        const question = await isAsking(stack, rollout);
        await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana'));
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
        assert.deepEqual([result.error?.type, begunOn(stack, targets)], ['ApprovalExpired', 1]);
      },
      asking({ goodFor: 90_000 }),
    ),
  );

  for (const [what, name, type] of [
    ['aborted', 'abort', 'Cancelled'],
    ['cancelled', null, 'Cancelled'],
  ] as const) {
    test(
      `${what} while it asks has started nothing`,
      inFleet(async (stack) => {
        const targets = servers(2);
        const rollout = begin(stack, targets);
        await isAsking(stack, rollout);
        if (name === null) stack.cancel(rollout);
        else await decide(stack, rollout, name, ANNE);
        const result = await endOfRollout(stack, rollout);
        assert.deepEqual([result.outcome, result.error?.type], ['not_started', type]);
        assert.deepEqual([begunOn(stack, targets), result.held[0]?.end], [0, 'cancelled']);
      }, asking()),
    );
  }

  test(
    'that a person pauses while it asks stays paused after its approval, until a person resumes it',
    inFleet(async (stack) => {
      const { others, rollout } = inTwoWaves(stack);
      const question = await isAsking(stack, rollout);
      await decide(stack, rollout, 'pause', ANNE);
      assert.equal(await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana')), null);
      await stack.forward(HOUR);
      assert.deepEqual([(await progressOf(stack, rollout)).waiting?.kind, begunOn(stack, others)], ['decision', 0]);
      await decide(stack, rollout, 'resume', ANNE);
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    }, asking(FOR_NONE)),
  );

  test(
    'that a person pauses and resumes while it asks still shows what it asks',
    inFleet(async (stack) => {
      const { rollout } = inTwoWaves(stack);
      const question = await isAsking(stack, rollout);
      await decide(stack, rollout, 'pause', ANNE);
      await decide(stack, rollout, 'resume', ANNE);
      const { result, waiting } = await progressOf(stack, rollout);
      assert.deepEqual([result.phase, waiting?.kind], ['approval', 'approval']);
      assert.equal(await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana')), null);
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    }, asking(FOR_NONE)),
  );

  test(
    'ends before its first server if a wave names an approval that the workers do not have',
    inFleet(async (stack) => {
      const { canary, rollout } = inTwoWaves(stack, 'staging');
      const result = await endOfRollout(stack, rollout);
      assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Refused']);
      assert.match(result.error?.message ?? '', /no approval "staging"/);
      assert.equal(begunOn(stack, [canary]), 0);
    }, AUDIT_ONLY),
  );
});

test(
  'what was approved for a rollout lets no other run deploy, although it contains the same site',
  inFleet(async (stack) => {
    const [target] = servers(1);
    const rollout = begin(stack, [target]);
    const question = await isAsking(stack, rollout);
    await answer(stack, rollout, 'approve', signedAnswer(ANA, question, 'ana'));
    assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
    const own = stack.world.server.runs.find(({ type }) => type === 'backupThenDeploy')!;
    const { approved } = memoOf<RunMemo>(own).input;
    assert.ok(approved !== undefined && approved.length === 1);
    const replayed = stack.start({ ...target, approved });
    const result = await stack.result(replayed);
    assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Refused']);
    assert.match(result.error?.message ?? '', /what was approved for rollout:\S+ is not the deployment of site/);
    assert.equal(deployments(stack, target.siteIds[0]), 1);
  }, asking()),
);
