import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Waiter } from '../../src/contract/run.ts';
import { joinQueue } from '../../src/workflows/rules/wait-queue.ts';
import { worst } from '../../src/workflows/rules/worst-outcome.ts';

const waiters = fc.array(
  fc
    .record({ run: fc.integer({ min: 1, max: 9 }), second: fc.integer({ min: 0, max: 59 }) })
    .map(({ run, second }): Waiter => ({
      workflowId: `w${run}`,
      runId: `r${run}`,
      since: new Date(second * 1000).toISOString(),
    })),
);

test('property: a queue holds everybody once, the earliest first, whatever the order of asking', () => {
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
