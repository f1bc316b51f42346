import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ScheduleDescription, ServiceError } from '@temporalio/client';
import { describeSchedule } from '../../src/features/schedules/client-state.ts';

const DESCRIPTION = { scheduleId: 'nightly' } as ScheduleDescription;

function grpcError(code: number, details: string): ServiceError {
  const cause = Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} });
  return new ServiceError('Failed to describe schedule', { cause });
}

test('a schedule whose task failed at Temporal is described once Temporal has repeated the task', async () => {
  const answers = [
    grpcError(9, 'Unable to query workflow due to Workflow Task in failed state.'),
    grpcError(9, 'Unable to query workflow due to Workflow Task in failed state.'),
    DESCRIPTION,
  ];
  const describe = () => {
    const answer = answers.shift();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer!);
  };
  assert.equal(await describeSchedule({ describe }), DESCRIPTION);
  assert.equal(answers.length, 0);
});

for (const error of [grpcError(5, 'schedule not found'), grpcError(9, 'another precondition')]) {
  test(`the error "${error.cause instanceof Error ? error.cause.message : ''}" is passed on`, async () => {
    await assert.rejects(describeSchedule({ describe: () => Promise.reject(error) }), error);
  });
}
