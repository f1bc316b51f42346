import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection, ConnectionLike } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { openSession } from '../../src/client/connection/session.ts';
import { workersSeen } from '../../src/client/connection/workers-seen.ts';

const QUEUE = 'belay';

/**
 * @param polled when each worker polled last, and `nowS`, both in seconds by Temporal's clock
 * @param asked gets the queues that Temporal is asked about
 */
function connectionTo(
  polled: Record<string, number>,
  nowS: number,
  { mayPoll = true, asked = [] as string[] } = {},
): ConnectionLike {
  const clients = new Map<string, number>();
  const workflowService = {
    pollActivityTaskQueue: ({ identity }: { identity: string }) => {
      if (!mayPoll) return Promise.reject(new Error('permission denied'));
      clients.set(identity, nowS);
      return new Promise(() => undefined);
    },
    describeTaskQueue: ({ taskQueue: { name } }: { taskQueue: { name: string } }) => {
      asked.push(name);
      const listed = name === QUEUE ? Object.entries(polled) : [...clients];
      const pollers = listed.map(([identity, seconds]) => ({ identity, lastAccessTime: msToTs(seconds * 1_000) }));
      return Promise.resolve({ pollers });
    },
  };
  const call = (_limit: unknown, ask: () => Promise<unknown>) => ask();
  return { workflowService, withDeadline: call, withAbortSignal: call } as unknown as ConnectionLike;
}

const seen = (connection: ConnectionLike) => workersSeen(connection, 'default', QUEUE);

// Both lie far from the clock of this machine.
for (const [clock, nowS] of [
  ['behind', 1_000],
  ['ahead of', 10_000_000_000],
] as const) {
  test(`a worker counts for 70 s after its last poll, if Temporal's clock is ${clock} this machine's`, async () => {
    assert.deepEqual(await seen(connectionTo({ old: nowS - 71, recent: nowS - 69 }, nowS)), ['recent']);
    assert.deepEqual(await seen(connectionTo({ old: nowS - 71 }, nowS)), []);
    assert.deepEqual(await seen(connectionTo({}, nowS)), []);
  });
}

test('a client that may not poll compares the workers with each other', async () => {
  assert.deepEqual(await seen(connectionTo({ old: 800, recent: 900 }, 1_000, { mayPoll: false })), ['recent']);
  assert.deepEqual(await seen(connectionTo({}, 1_000, { mayPoll: false })), []);
});

test('displays that ask again and again share what was found out about the workers', async () => {
  const asked: string[] = [];
  const connection = connectionTo({ worker: 1_000 }, 1_000, { asked }) as Connection;
  const { session } = await openSession({ connection, taskQueue: QUEUE });
  for (let looks = 0; looks < 3; looks += 1) {
    const { pollers } = await session.latelySeen();
    assert.deepEqual(
      pollers.map(({ identity }) => identity),
      ['worker'],
    );
  }
  assert.equal(asked.filter((name) => name === QUEUE).length, 1);
});
