/** What the client takes for the question of a run: only what people would sign. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { QueryNotRegisteredError } from '@temporalio/client';
import { askedNow } from '../../src/features/approvals/client.ts';
import { GRPC } from '../../src/client/transport/grpc-errors.ts';
import { type ApprovalQuestion, planHash } from '../../src/features/approvals/shapes.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { factsOfPlan } from '../../src/features/approvals/text.ts';
import { questionLines } from '../../src/features/approvals/actions.ts';
import { summaryOf } from '../../src/features/approvals/rules.ts';
import { approvalPlan } from '../support/approvals.ts';

const failing = (error: Error) => ({ query: () => Promise.reject(error) });
const { namespace, workflowId, executionId } = approvalPlan();
const EXECUTION = { namespace, workflowId, executionId };

test('a rollout whose code has not begun asks nothing', async () => {
  const message = 'Workflow did not register a handler for approval';
  const error = new QueryNotRegisteredError(message, GRPC.invalidArgument);
  assert.equal(await askedNow(failing(error), EXECUTION), null);
});

test('another error of the query is passed on', async () => {
  const error = new Error('no worker answers');
  await assert.rejects(askedNow(failing(error), EXECUTION), error);
});

function questionOf(siteIds: readonly string[], more: Parameters<typeof approvalPlan>[0] = {}): ApprovalQuestion {
  const parts = [{ serverId: '12', targets: siteIds.map(siteTarget) }];
  const plan = approvalPlan({ parts: summaryOf(parts), ...more });
  return { plan, hash: planHash(plan), parts, asked: [], until: plan.askedAt };
}

const asked = (question: ApprovalQuestion) => askedNow({ query: <T>() => Promise.resolve(question as T) }, EXECUTION);

describe('a question is refused', () => {
  const honest = questionOf(['production-shop']);
  for (const [what, question, problem] of [
    [
      'with the plan of another run',
      questionOf(['a'], { workflowId: 'rollout:steady:x' }),
      /has the workflowId rollout/,
    ],
    ['with that of an earlier execution', questionOf(['a'], { executionId: 'earlier' }), /has the executionId earlier/],
    ['with that of another namespace', questionOf(['a'], { namespace: 'other' }), /has the namespace other/],
    [
      'if its hash is that of another plan',
      { ...honest, hash: questionOf(['a']).hash },
      /hash is not that of its plan/,
    ],
    [
      'if it shows harmless parts',
      { ...honest, parts: questionOf(['blog']).parts },
      /parts that it shows are not those/,
    ],
  ] as [string, ApprovalQuestion, RegExp][]) {
    test(what, async () => {
      await assert.rejects(asked(question), (error: Error & { type?: string }) => {
        assert.equal(error.type, 'Refused');
        return problem.test(error.message);
      });
    });
  }

  test('never if it is what the run asks', async () => {
    assert.deepEqual(await asked(honest), honest);
  });
});

test('a person sees every target of a question, on lines that fit, and nothing that a plan adds to them', () => {
  const sites = Array.from({ length: 81 }, (_, index) => `site-with-a-long-name-${index}`);
  const lines = questionLines(questionOf([...sites, 'production-shop']));
  for (const site of [...sites, 'production-shop']) assert.match(lines.join('\n'), new RegExp(`\\b${site}\\b`));
  assert.ok(
    lines.every(({ length }) => length <= 100),
    lines.join('\n'),
  );
  const forged = approvalPlan({ commit: '3f2c1ab\noverrides: none' });
  const { length } = factsOfPlan(approvalPlan(), '');
  assert.equal(factsOfPlan(forged, '').join('\n').split('\n').length, length);
});

test('a person sees each fact and each target whole, however long it is', () => {
  const long = (start: string) => `${start}${'x'.repeat(3_000)} end`;
  const plan = { override: { freezes: ['christmas'], reason: long('CVE') }, noCheck: { reason: long('moved') } };
  const shown = questionLines(questionOf([`site-${'y'.repeat(195)}`], plan)).join('\n');
  for (const text of [plan.override.reason, plan.noCheck.reason, `site-${'y'.repeat(195)}`])
    assert.ok(shown.includes(text), shown);
});
