/** Schedules that Temporal still lists, and firings whose run has ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApplicationFailure, ScheduleNotFoundError, WorkflowFailedError } from '@temporalio/client';
import type { Session } from '../../src/client/session.ts';
import { firingOf } from '../../src/features/schedules/client-state.ts';
import { createSchedules } from '../../src/features/schedules/client.ts';

test('a schedule that was deleted a moment ago, and is still listed, is not to be pruned', async () => {
  const schedule = {
    async *list() {
      yield await Promise.resolve({ scheduleId: 'belay:shop:nightly' });
    },
    getHandle: (scheduleId: string) => ({
      describe: () => Promise.reject(new ScheduleNotFoundError('gone', scheduleId)),
    }),
  };
  const session = {
    ...{ service: 'https://panel.example.com', taskQueue: 'belay', encrypts: false },
    workers: () => Promise.resolve({ pollers: [], current: [null] }),
    client: { schedule, withDeadline: (_untilMs: number, act: () => Promise<unknown>) => act() },
  } as unknown as Session;
  assert.deepEqual(await createSchedules(session).plan([], ['shop']), []);
});

function firingThatFailed(cause: ApplicationFailure) {
  const handle = {
    describe: () => Promise.resolve({ status: { name: 'FAILED' }, raw: {} }),
    result: () => Promise.reject(new WorkflowFailedError('failed', cause, 'NON_RETRYABLE_FAILURE')),
  };
  const session = { client: { workflow: { getHandle: () => handle } } } as unknown as Session;
  return firingOf(session, '2026-11-27T02:30:00Z', { workflowId: 'w', firstExecutionRunId: 'r' });
}

test('a firing whose run ended by a defect is not in progress any more', async () => {
  const left = { workflowId: 'backup:12:k', alreadyStarted: false, outcome: null };
  const cause = ApplicationFailure.create({ type: 'Internal', message: 'a defect', details: [left] });
  const firing = await firingThatFailed(cause);
  assert.deepEqual([firing.outcome, firing.workflowId], ['unknown', 'backup:12:k']);
});

test('a firing that came too late, or whose input was refused, is not_started', async () => {
  for (const type of ['NoWorker', 'Usage'] as const) {
    const firing = await firingThatFailed(ApplicationFailure.create({ type, message: 'nothing was started' }));
    assert.deepEqual([firing.outcome, firing.workflowId], ['not_started', null]);
  }
  const terminated = await firingThatFailed(ApplicationFailure.create({ type: 'Internal', message: 'a defect' }));
  assert.equal(terminated.outcome, 'unknown');
});
