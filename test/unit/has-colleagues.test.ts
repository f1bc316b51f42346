import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { hasColleagues } from '../../src/client/lookups/runs.ts';

/** A client whose task queue was polled at these times, in seconds by Temporal's clock. */
function clientOf(polled: Record<string, number>): Client {
  const pollers = Object.entries(polled).map(([identity, seconds]) => ({
    identity,
    lastAccessTime: msToTs(seconds * 1_000),
  }));
  const workflowService = { describeTaskQueue: () => Promise.resolve({ pollers }) };
  const withDeadline = (_ms: number, ask: () => Promise<unknown>) => ask();
  return { workflowService, withDeadline, options: { namespace: 'default' } } as unknown as Client;
}

const OWN = { taskQueue: 'belay', identity: 'me' };

for (const [what, polled, expected] of [
  ['polls now', { me: 1_000, other: 1_000 }, true],
  ['polled within its last long poll', { me: 1_000, other: 931 }, true],
  ['is gone', { me: 1_000, other: 930 }, false],
] as const) {
  test(`a worker that ${what} is ${expected ? 'a' : 'no'} colleague, whatever the clock of this machine shows`, async () => {
    assert.equal(await hasColleagues(clientOf(polled), OWN), expected);
  });
}

test('the only worker has no colleagues', async () => {
  assert.equal(await hasColleagues(clientOf({ me: 1_000 }), OWN), false);
  assert.equal(await hasColleagues(clientOf({}), OWN), false);
});
