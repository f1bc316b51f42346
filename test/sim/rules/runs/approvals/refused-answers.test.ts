/** Answers that do not count: what is asked stays open, and a good answer counts afterwards. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inVirtualTime } from '../../../stack/stack.ts';
import { ANA, answer, asking, EVE, isAsking, signedAnswer, startAsking } from './answers.ts';

describe('an answer is refused and changes nothing', () => {
  for (const [what, given, problem] of [
    [
      'for another plan',
      { plan: 'f'.repeat(64) },
      /^Usage: this is not the plan that is asked about, which begins with/,
    ],
    ['for too few digits of the plan', 'eleven digits', /^Usage: this is not the plan/],
    ['by no one', { by: '' }, /^Usage: by: must be one line/],
    ['with a name of two lines', { by: 'ana\nbob' }, /^Usage: by: must be one line/],
    ['with a proof of another kind', { proof: { kind: 'pgp' } }, /^Usage: proof: must be a signature of SSH/],
    ['with a signature of a megabyte', { proof: { kind: 'ssh', signature: 'x'.repeat(1_048_576) } }, /^Usage: proof:/],
    ['with a signature that is none', { proof: { kind: 'ssh', signature: 'x' } }, /^Usage: the signature is not what/],
    ['without a proof', { proof: { kind: 'none' } }, /^Usage: production needs a signature of SSH/],
    ["with someone else's key", 'key of eve', /^Usage: the key SHA256:\S+ is not in the file of signers/],
  ] as [string, object | string, RegExp][]) {
    test(
      what,
      inVirtualTime(async (stack) => {
        const { run } = startAsking(stack);
        const question = await isAsking(stack, run);
        const good = signedAnswer(ANA, question, 'ana');
        const bad =
          given === 'eleven digits'
            ? { ...good, plan: question.hash.slice(0, 11) }
            : given === 'key of eve'
              ? signedAnswer(EVE, question, 'ana')
              : { ...good, ...(given as object) };
        assert.match((await answer(stack, run, 'approve', bad)) ?? 'accepted', problem);
        assert.deepEqual((await isAsking(stack, run)).asked[0]?.by, []);
        assert.equal(await answer(stack, run, 'approve', good), null);
        assert.equal((await stack.result(run)).outcome, 'completed');
      }, asking()),
    );
  }

  test(
    'if it was given to another run, or to the run before with the same id',
    inVirtualTime(async (stack) => {
      const [one, two] = [startAsking(stack), startAsking(stack)];
      const question = await isAsking(stack, one.run);
      const { hash } = await isAsking(stack, two.run);
      const forOne = signedAnswer(ANA, question, 'ana');
      assert.match((await answer(stack, two.run, 'approve', forOne)) ?? '', /not the plan that is asked about/);
      const replayed = { ...forOne, plan: hash };
      assert.match((await answer(stack, two.run, 'approve', replayed)) ?? '', /not one of this text/);
      for (const { run } of [one, two]) stack.cancel(run);
    }, asking()),
  );

  test(
    'if it comes before anything is asked, or a reason is missing',
    inVirtualTime(async (stack) => {
      const { run } = startAsking(stack);
      const question = await isAsking(stack, run);
      const no = signedAnswer(ANA, question, 'ana', { decision: 'reject' });
      assert.equal(await answer(stack, run, 'reject', no), 'Usage: why: a rejection needs a reason');
      stack.cancel(run);
      await stack.result(run);
    }, asking()),
  );

  test(
    'after 50 answers that do not count',
    inVirtualTime(async (stack) => {
      const { run } = startAsking(stack);
      const question = await isAsking(stack, run);
      const bad = signedAnswer(EVE, question, 'ana');
      for (let index = 0; index < 50; index += 1)
        assert.match((await answer(stack, run, 'approve', bad)) ?? '', /not in the file of signers/);
      for (let index = 0; index < 10; index += 1)
        assert.match((await answer(stack, run, 'approve', bad)) ?? '', /there were 50 answers that do not count/);
      assert.match((await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana'))) ?? '', /there were 50/);
      assert.ok(run.history.length < 700, `${run.history.length} events`);
      stack.cancel(run);
      await stack.result(run);
    }, asking()),
  );
});
