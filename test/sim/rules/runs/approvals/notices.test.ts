/** When people are notified of a question, and on which channels. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApprovalNotice } from '../../../../../src/features/notifications/shapes.ts';
import { inVirtualTime, MOMENT_MS } from '../../../stack/stack.ts';
import { ANA, answer, asking, isAsking, signedAnswer, startAsking } from './answers.ts';

const HOUR = 3_600_000;

describe('people', () => {
  test(
    'are told of a question, at half time and once it is approved, on the channels that the approval names',
    inVirtualTime(
      async (stack) => {
        const { run } = startAsking(stack);
        const question = await isAsking(stack, run);
        await stack.forward(13 * HOUR);
        await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana'));
        await stack.result(run);
        await stack.forward(MOMENT_MS);
        const told = stack.world.notices.taken.filter(({ notification }) => notification.kind === 'approval');
        const about = told.map(({ channel, notification }) => [channel, (notification as ApprovalNotice).about]);
        assert.deepEqual(about, [
          ['ops', 'asked'],
          ['ops', 'half_time'],
          ['ops', 'approved'],
        ]);
        const { sentence, text } = told[0]?.notification as ApprovalNotice;
        assert.match(
          sentence,
          new RegExp(`^${run.workflowId} waits for 1 approval .*: \`belay approve .* --plan [0-9a-f]{12}\`$`),
        );
        assert.match(text, /^run: .*\ndoes: back up .*\nplan: sha256:[0-9a-f]+\n {2}server \S+: \S+$/ms);
      },
      { ...asking({ tell: ['ops'] }), notify: { on: 'failed', channels: ['ops', 'dev'], heartbeats: [] } },
    ),
  );

  test(
    'are told at half time and at the end of a question that no one answers',
    inVirtualTime(
      async (stack) => {
        const { clock, notices } = stack.world;
        const { run } = startAsking(stack);
        const { plan, until } = await isAsking(stack, run);
        const halfMs = (Date.parse(plan.askedAt) + Date.parse(until)) / 2;
        await stack.forward(halfMs - MOMENT_MS - clock.nowMs);
        assert.equal(notices.taken.length, 1);
        await stack.forward(2 * MOMENT_MS);
        assert.equal(notices.taken.length, 2);
        await stack.result(run);
        await stack.forward(MOMENT_MS);
        const told = notices.taken.map(({ notification: it }) => (it.kind === 'approval' ? it.about : it.kind));
        assert.deepEqual(told, ['asked', 'half_time', 'run']);
      },
      { ...asking({ expiry: 6 * HOUR }), notify: { on: 'failed', channels: ['ops'], heartbeats: [] } },
    ),
  );
});
