import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Waiter } from '../../src/contract/operation.ts';
import { joinQueue, MAX_WAITERS, releaseIn, waitersIn } from '../../src/rules/wait-queue.ts';
import { worst } from '../../src/workflows/conclusion.ts';

const waiters = fc.array(
  fc
    .record({ run: fc.integer({ min: 1, max: 9 }), second: fc.integer({ min: 0, max: 59 }) })
    .map(({ run, second }): Waiter => ({
      workflowId: `w${run}`,
      runId: `r${run}`,
      since: new Date(second * 1000).toISOString(),
    })),
);

test('property: a queue contains each waiter once, earliest first, for any order of requests', () => {
  fc.assert(
    fc.property(waiters, waiters, (queue, newcomers) => {
      const joined = joinQueue(queue, newcomers);
      assert.deepEqual(joinQueue(newcomers, queue), joined);
      assert.deepEqual(joinQueue(joined, newcomers), joined);
      const runs = joined.map(({ runId }) => runId);
      assert.deepEqual(new Set(runs), new Set([...queue, ...newcomers].map(({ runId }) => runId)));
      assert.equal(new Set(runs).size, runs.length);
      const times = joined.map(({ since }) => since);
      assert.deepEqual(times, [...times].sort());
    }),
  );
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const RUN_ID = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
const SINCE = '2026-01-01T00:00:00.000Z';

/** Text and other values near the ones that are kept. */
const nearly = (text: string) => fc.oneof(fc.constant(text), fc.string({ unit: 'binary' }), fc.jsonValue());
const messages = fc.oneof(
  fc.jsonValue(),
  fc.record({
    waiters: fc.array(
      fc.record(
        { workflowId: nearly('deploy:a1:k'), runId: nearly(RUN_ID), since: nearly(SINCE) },
        { requiredKeys: [] },
      ),
    ),
  }),
);

test('property: Temporal accepts a signal to every waiter that is taken from a message, whatever the message is', () => {
  fc.assert(
    fc.property(messages, (message) => {
      for (const { workflowId, runId, since } of waitersIn(message)) {
        assert.ok(workflowId !== '' && Buffer.byteLength(workflowId) <= 1_000);
        assert.equal(Buffer.from(workflowId).toString(), workflowId);
        assert.match(runId, UUID);
        assert.equal(new Date(since).toISOString(), since);
      }
    }),
    { numRuns: 500 },
  );
});

test('a message may name anything, and only its waiters are taken', () => {
  const honest = { workflowId: 'deploy:a1:k', runId: RUN_ID, since: SINCE };
  const forged = [
    ...[{ runId: 'nonsense' }, { runId: '' }, { workflowId: '' }, { workflowId: 'x'.repeat(201) }],
    ...[{ workflowId: 'half\ud800' }, { since: '' }, { since: '0' }, { since: '2026-13-01T00:00:00.000Z' }],
  ].map((change) => ({ ...honest, ...change }));
  assert.deepEqual(waitersIn({ waiters: [null, 1, ...forged, honest] }), [honest]);
  for (const message of [null, 1, [], {}, { waiters: {} }]) assert.deepEqual(waitersIn(message), []);
});

test('a waiter keeps the time that it names, however early, because an earlier holder may have handed it on', () => {
  const waiter = (n: number, since: string) => ({
    workflowId: `deploy:a1:k${n}`,
    runId: RUN_ID.replace(/0$/, `${n}`),
    since,
  });
  const [first, handedOn] = [waiter(1, SINCE), waiter(2, '2025-12-31T12:00:00.000Z')];
  assert.deepEqual(joinQueue([first], waitersIn({ waiters: [handedOn] })), [handedOn, first]);
  // See docs/reference/security.md.
  const forged = waiter(3, '1970-01-01T00:00:00.000Z');
  assert.deepEqual(joinQueue([handedOn, first], waitersIn({ waiters: [forged] })), [forged, handedOn, first]);
});

test('what a message adds to a waiter is not handed on', () => {
  const waiter = { workflowId: 'deploy:a1:k', runId: RUN_ID, since: SINCE };
  assert.deepEqual(waitersIn({ waiters: [{ ...waiter, note: 'x'.repeat(1_000_000) }] }), [waiter]);
});

test('a queue keeps the first thousand waiters', () => {
  const crowd = Array.from({ length: MAX_WAITERS + 5 }, (_, n) => ({
    workflowId: `deploy:a1:k${n}`,
    runId: `${String(n).padStart(8, '0')}${RUN_ID.slice(8)}`,
    since: SINCE,
  }));
  assert.deepEqual(joinQueue(crowd.slice(3), crowd.slice(0, 3)), crowd.slice(0, MAX_WAITERS));
});

test('a release with anything else than a backup carries none', () => {
  const backup = { result: { backupId: 'b1' }, error: null };
  assert.deepEqual(releaseIn({ lockId: 'l', waiters: [], backup }), { lockId: 'l', waiters: [], backup });
  for (const other of [undefined, null, 5, {}, { result: null }, { result: { backupId: 5 } }, []])
    assert.equal(releaseIn({ lockId: 'l', backup: other }).backup, null);
  assert.equal(releaseIn({ lockId: 5 }).lockId, '');
});

test("a run's outcome is the worst of its parts, and its error the root cause", () => {
  const error = { type: 'DeploymentTimedOut', message: 'late' } as const;
  const completed = { outcome: 'completed', error: null } as const;
  assert.deepEqual(worst([]), completed);
  assert.deepEqual(worst([completed, { outcome: 'timed_out', error }, { outcome: 'not_started', error: null }]), {
    outcome: 'timed_out',
    error,
  });
  const defect = { outcome: null, error: { type: 'Internal', message: 'x' } } as const;
  assert.equal(worst([{ outcome: 'failed', error }, defect]), defect);
});
