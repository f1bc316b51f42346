/** What the newest events of an operation say about its wait, newest first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@temporalio/client';
import { defaultDataConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { waitOf } from '../../src/client/runs/recorded-wait.ts';
import { readSummary } from '../../src/contract/read-summary.ts';

const { payloadConverter } = defaultDataConverter;
const client = { options: { loadedDataConverter: defaultDataConverter } } as unknown as Client;
const backup = { type: 'backupServer', workflowId: 'backup-server:12', runId: 'r' };
const payload = (value: unknown) => payloadConverter.toPayload<unknown>(value);

function timer(eventId: number, lastStatus: string | null) {
  const summary = readSummary({ kind: 'backup', try: 1, tries: 20, lastStatus }, 'try');
  return {
    eventId,
    eventTime: msToTs(Date.parse('2026-03-02T08:00:00Z')),
    timerStartedEventAttributes: { startToFireTimeout: msToTs(15_000) },
    userMetadata: { summary: payload(summary) },
  };
}

/** Newest first. */
const read = (eventId: number, answer: object) => [
  {
    eventId: eventId + 1,
    eventTime: msToTs(Date.parse('2026-03-02T08:00:05Z')),
    activityTaskCompletedEventAttributes: { scheduledEventId: eventId, result: { payloads: [payload(answer)] } },
  },
  { eventId, activityTaskScheduledEventAttributes: { activityType: { name: 'readBackup' } } },
];

const shownBy = async (...events: object[]) => {
  const wait = await waitOf(client, backup, events);
  return wait !== null && wait !== 'unknown' && 'tries' in wait && wait.kind !== 'check' ? wait : null;
};

test('a wait shows the status of a read for a hint, which leaves the timer as it was', async () => {
  const events = [...read(9, { ok: false }), ...read(7, { ok: true, status: 'running' }), timer(5, null)];
  const wait = await shownBy(...events);
  assert.deepEqual([wait?.try, wait?.lastStatus, wait?.nextReadAt], [1, 'running', '2026-03-02T08:00:15.000Z']);
});

test('a wait without a read among the newest events shows the status that its timer names', async () => {
  assert.equal((await shownBy(timer(5, 'pending')))?.lastStatus, 'pending');
  assert.equal((await shownBy(timer(5, null)))?.lastStatus, null);
});
