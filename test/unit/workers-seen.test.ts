import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection, ConnectionLike } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { QueueState } from '../../src/client/pollers.ts';
import { openSession } from '../../src/client/session.ts';
import { shareSeen, workersSeen } from '../../src/client/workers.ts';

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
    const { pollers } = await session.workers();
    assert.deepEqual(
      pollers.map(({ identity }) => identity),
      ['worker'],
    );
  }
  assert.equal(asked.filter((name) => name === QUEUE).length, 1);
});

const queueOf = (...identities: string[]): QueueState => ({
  pollers: identities.map((identity) => ({ identity, polledMs: 0, version: null })),
  current: [null],
});

test('questions for workers share an answer for five seconds, unless it is not enough', async () => {
  let [asked, nowMs] = [0, 0];
  const workers = shareSeen(
    () => Promise.resolve(queueOf(...(asked++ === 0 ? [] : ['worker']))),
    () => nowMs,
  );
  const isThere = ({ pollers }: QueueState) => pollers.length > 0;
  assert.deepEqual(await Promise.all([workers(), workers()]), [queueOf(), queueOf()]);
  assert.deepEqual([await workers(), asked], [queueOf(), 1]);
  assert.deepEqual([await workers(isThere), asked], [queueOf('worker'), 2]);
  nowMs = 4_999;
  assert.deepEqual([await workers(isThere), asked], [queueOf('worker'), 2]);
  nowMs = 5_000;
  await workers();
  assert.equal(asked, 3);
});

test('a question for workers that failed is asked again', async () => {
  let asked = 0;
  const workers = shareSeen(() => (asked++ === 0 ? Promise.reject(new Error('away')) : Promise.resolve(queueOf())));
  await assert.rejects(workers(), /away/);
  assert.deepEqual(await workers(), queueOf());
});
