/** Why a run does not answer, from Temporal's records. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { reasonOfSilence } from '../../src/client/runs/run-contact.ts';
import type { Session } from '../../src/client/session.ts';

const [FAILED, TIMED_OUT] = [{ workflowTaskFailedEventAttributes: {} }, { workflowTaskTimedOutEventAttributes: {} }];
const SIGNALED = { workflowExecutionSignaledEventAttributes: {} };

interface Case {
  what: string;
  attempt: number;
  /** The newest one first. */
  events: object[];
  pollers?: number;
  contact: string;
}

const CASES: Case[] = [
  { what: 'a worker fails at its task again and again', attempt: 3, events: [SIGNALED, FAILED], contact: 'stuck' },
  { what: 'its tasks time out, as those of a frozen worker do', attempt: 9, events: [TIMED_OUT], contact: 'silent' },
  { what: 'a task failed long before others timed out', attempt: 9, events: [TIMED_OUT, FAILED], contact: 'silent' },
  { what: 'the failing worker has ended', attempt: 3, events: [FAILED], pollers: 0, contact: 'silent' },
  { what: 'a task failed once', attempt: 2, events: [FAILED], contact: 'silent' },
];

describe('a run that does not answer', () => {
  for (const { what, attempt, events, pollers = 1, contact } of CASES)
    test(`is ${contact} if ${what}`, async () => {
      const session = {
        namespace: 'default',
        workers: () => Promise.resolve({ pollers: Array.from({ length: pollers }, () => ({})) }),
        client: {
          workflowService: {
            getWorkflowExecutionHistoryReverse: () => Promise.resolve({ history: { events } }),
          },
        },
      } as unknown as Session;
      const described = { workflowId: 'w', runId: 'r', historyLength: 40, raw: { pendingWorkflowTask: { attempt } } };
      const found = await reasonOfSilence(session, described as unknown as WorkflowExecutionDescription);
      assert.equal(found, contact);
    });
});
