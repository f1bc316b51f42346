/** What a history shows of an operation, if no worker answers for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@temporalio/client';
import { ApplicationFailure, defaultDataConverter, TimeoutFailure } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { operationIn, type Events } from '../../src/client/runs/run-history.ts';
import { operationFacts } from '../../src/features/receipts/client.ts';

const { payloadConverter, failureConverter } = defaultDataConverter;
const client = { options: { loadedDataConverter: defaultDataConverter } } as unknown as Client;
const AT = msToTs(Date.parse('2026-03-02T08:00:00Z'));

/** @param closes what follows each activity: its answer, its failure, or nothing so far */
function history(...activities: [type: string, closes?: unknown][]): Events {
  return activities.flatMap(([name, closes], index) => {
    const [scheduledEventId, eventId] = [2 * index + 1, 2 * index + 2];
    const scheduled = { eventId: scheduledEventId, activityTaskScheduledEventAttributes: { activityType: { name } } };
    if (closes === undefined) return [scheduled];
    const failure = () => failureConverter.errorToFailure(closes, payloadConverter);
    const result = () => ({ payloads: [payloadConverter.toPayload<unknown>(closes)] });
    const closed =
      closes instanceof TimeoutFailure
        ? { activityTaskTimedOutEventAttributes: { scheduledEventId, failure: failure() } }
        : closes instanceof Error
          ? { activityTaskFailedEventAttributes: { scheduledEventId, failure: failure() } }
          : { activityTaskCompletedEventAttributes: { scheduledEventId, result: result() } };
    return [scheduled, { eventId, eventTime: AT, ...closed }];
  }) as unknown as Events;
}

const failed = (type: string) => ApplicationFailure.create({ type, message: type, nonRetryable: true });
const read = (status: string) => ({ ok: true, status });

test('the history of an operation shows its requests, their answer and the reads so far', async () => {
  const events = history(
    ['readLatestDeployment', read('completed')],
    ['triggerDeployment', failed('Ambiguous')],
    ['triggerDeployment', {}],
    ['readLatestDeployment', failed('x')],
    ['readLatestDeployment', { ok: false }],
    ['readLatestDeployment', read('running')],
    ['readLatestDeployment'],
  );
  assert.deepEqual(await operationIn(client, events), {
    trigger: { attempts: 2, ambiguous: true },
    acceptedAt: '2026-03-02T08:00:00.000Z',
    backupId: null,
    lastStatus: 'running',
    polls: 2,
  });
});

test('a request that no worker took, or that a permit held back, is no attempt', async () => {
  const untaken = new TimeoutFailure('too late', undefined, 'SCHEDULE_TO_START');
  const events = history(['createBackup', untaken], ['createBackup', failed('Frozen')], ['createBackup']);
  assert.deepEqual((await operationIn(client, events)).trigger, { attempts: 1, ambiguous: false });
  const lost = new TimeoutFailure('lost', undefined, 'HEARTBEAT');
  const again = history(['createBackup', lost], ['createBackup', { backupId: 'b1' }]);
  const { trigger, backupId } = await operationIn(client, again);
  assert.deepEqual([trigger, backupId], [{ attempts: 2, ambiguous: true }, 'b1']);
});

test('a receipt says of a request that no worker took, or that a permit held back, that it had no effect', async () => {
  const untaken = new TimeoutFailure('too late', undefined, 'SCHEDULE_TO_START');
  const lost = new TimeoutFailure('lost', undefined, 'HEARTBEAT');
  const events = history(['createBackup', untaken], ['createBackup', failed('Frozen')], ['createBackup', lost]);
  const { posts } = await operationFacts(client, events);
  assert.deepEqual(
    posts.map(({ effect }) => effect),
    ['none', 'none', undefined],
  );
});

test('a pooled wait counts the reads that its worker made', async () => {
  const progress = { polls: 7, lastStatus: 'running' };
  const events = history(['pollWhileInProgress', { progress, read: read('completed'), isTry: true }]);
  const { polls, lastStatus } = await operationIn(client, events);
  assert.deepEqual([polls, lastStatus], [8, 'completed']);
});
