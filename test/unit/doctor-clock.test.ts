import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConnectionLike } from '@temporalio/client';
import type { TemporalEndpoint } from '../../src/config/find-temporal.ts';
import { temporalChecks } from '../../src/features/doctor/temporal.ts';

/** A Temporal server that lists no poller, as one does that is too slow to begin a poll in time. */
function temporalWhosePoll(poll: () => Promise<unknown>): ConnectionLike {
  const call = (_limit: unknown, ask: () => Promise<unknown>) => ask();
  const workflowService = { pollActivityTaskQueue: poll, describeTaskQueue: () => Promise.resolve({ pollers: [] }) };
  return { workflowService, withDeadline: call, withAbortSignal: call } as unknown as ConnectionLike;
}

for (const [what, poll, message] of [
  ['does not report its time soon enough', () => Promise.resolve({}), 'Temporal did not report its time'],
  ['allows no poll', () => Promise.reject(new Error('permission denied')), 'permission denied'],
] as const) {
  test(`doctor skips the clock of a Temporal server that ${what}`, async () => {
    const place = { connection: temporalWhosePoll(poll), namespace: 'default', serverVersion: '1' };
    const endpoint = { credentials: null } as TemporalEndpoint;
    const clock = temporalChecks(endpoint, () => Promise.resolve(place)).find(
      ({ name }) => name === "Temporal's clock",
    );
    assert.deepEqual(await clock?.run(), { state: 'skipped', message });
  });
}
