/** What a history shows of the answers of people. Its events are those that Temporal's server writes for updates. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { answeredIn } from '../../src/features/receipts/client.ts';
import type { ApprovalAnswer, ApprovalPlan } from '../../src/features/approvals/shapes.ts';
import { approvalPlan, ASKED_AT } from '../support/approvals.ts';

const client = { options: { loadedDataConverter: defaultDataConverter } } as unknown as Client;
const plan = approvalPlan();

const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });

const answerOf = (by: string, why: string | null = null): ApprovalAnswer => ({
  ...{ plan: '9f2c1ab4d0e1', by, why },
  proof: { kind: 'ssh', signature: `signed by ${by}` },
});

const accepted = (eventId: number, name: string, answer: ApprovalAnswer) => ({
  eventId,
  workflowExecutionUpdateAcceptedEventAttributes: { acceptedRequest: { input: { name, args: payloads(answer) } } },
});

const counted = (acceptedEventId: number, of: ApprovalPlan = plan) => ({
  workflowExecutionUpdateCompletedEventAttributes: {
    acceptedEventId,
    outcome: { success: payloads({ plan: of, at: ASKED_AT }) },
  },
});

const refused = (acceptedEventId: number) => ({
  workflowExecutionUpdateCompletedEventAttributes: {
    acceptedEventId,
    outcome: { failure: { message: 'not a signer' } },
  },
});

const answered = (events: object[]) => answeredIn(client, events);

describe('the answers in a history', () => {
  test('are those that counted, in order, with what was sent', async () => {
    const rejection = answerOf('bob', 'not today');
    const found = await answered([
      accepted(5, 'approve', answerOf('eve')),
      accepted(6, 'approve', answerOf('ana')),
      refused(5),
      counted(6),
      accepted(9, 'reject', rejection),
      counted(9),
    ]);
    const { proof } = answerOf('ana');
    assert.deepEqual(found, [
      {
        plan,
        yeses: [{ by: 'ana', why: null, at: ASKED_AT, proof }],
        rejection: { by: 'bob', why: 'not today', at: ASKED_AT, proof: rejection.proof },
      },
    ]);
  });

  test('belong to the plan that they counted for, of which a rollout asks several', async () => {
    const [canary, rest] = [approvalPlan({ wave: 'canary' }), approvalPlan({ wave: 'rest' })];
    const sent = [accepted(5, 'approve', answerOf('ana')), counted(5, canary)];
    const found = await answered([...sent, accepted(8, 'approve', answerOf('ana')), counted(8, rest)]);
    assert.deepEqual(
      found.map((it) => [it.plan.wave, it.yeses.length]),
      [
        ['canary', 1],
        ['rest', 1],
      ],
    );
  });

  test('leave out other updates, and answers of which the history does not show the end', async () => {
    const found = await answered([
      accepted(5, 'pause', answerOf('ana')),
      counted(5),
      accepted(8, 'approve', answerOf('ana')),
    ]);
    assert.deepEqual(found, []);
  });
});
