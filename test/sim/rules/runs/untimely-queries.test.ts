import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bundleFromSource } from '../../../../src/worker/bundle/bundle-from-source.ts';
import { QUERIES, UNTIMELY_QUERY } from '../../../../src/contract/names.ts';
import { readHistories } from '../../../histories/kept.ts';
import { importHistory } from '../../core/import-history.ts';
import { jobOf, updateJob } from '../../core/jobs.ts';
import { openSandboxes, type Job, type Sandboxes } from '../../core/sdk.ts';
import { stepsOf } from '../../core/steps.ts';

let sandboxes: Sandboxes;
before(async () => {
  sandboxes = await openSandboxes(await bundleFromSource());
});
after(() => sandboxes.close());

const HINT: Job = { signalWorkflow: { signalName: 'hint', input: [], identity: 'test', headers: {} } };

const QUERY: Job = {
  variant: 'queryWorkflow',
  queryWorkflow: { queryId: 'legacy_query', queryType: QUERIES.progress, arguments: [], headers: {} },
};

/** An operation after its first task. */
async function began({ isReplaying = false } = {}) {
  const { workflowId, history: recorded } = readHistories().find(({ type }) => type === 'deploySite')!;
  const { history, facts } = importHistory(workflowId, recorded);
  const [{ startedId, atMs, incoming }] = stepsOf(history, 0) as [ReturnType<typeof stepsOf>[number]];
  const code = await sandboxes.open(facts);
  const jobs = incoming.flatMap((event) => jobOf(event, facts) ?? []);
  const task = { startedId, atMs, isReplaying: false, flags: [] };
  await code.activate({ ...task, isReplaying, jobs });
  return { code, task: { ...task, jobs: [HINT] } };
}

test('a query that brings events of which no task has begun fails, so that nothing is decided by the time of the task before', async () => {
  const { code, task } = await began();
  await assert.rejects(code.activate({ ...task, historyLength: task.startedId + 4 }), new RegExp(UNTIMELY_QUERY));
  await code.dispose();
});

test('a task that begins in the same millisecond as the one before goes on, and so does a replay', async () => {
  for (const it of [{ startedId: 9 }, { isReplaying: true, historyLength: 9 }]) {
    const { code, task } = await began();
    await code.activate({ ...task, ...it });
    await code.dispose();
  }
});

test('a task goes on that begins by a clock which went back since the task before', async () => {
  const { code, task } = await began();
  // Core keeps the later time, but tells the size of the history at the start of each task.
  await code.activate({ ...task, historyLength: task.startedId + 4, historySizeBytes: 1_000 });
  await code.dispose();
});

test('a query that brings an event after a task that only refused an update, and so left no events, fails', async () => {
  const { code, task } = await began();
  const refused = { ...task, startedId: task.startedId + 6 };
  const update = updateJob({ updateId: 'none', name: 'approve', input: [] }, true);
  const { commands } = await code.activate({ ...refused, jobs: [update] });
  assert.ok(commands.every(({ updateResponse }) => updateResponse?.rejected));
  await code.activate({ ...refused, isReplaying: true, jobs: [QUERY] });
  // The signal and its scheduled task have the ids of the events that the server dropped.
  await assert.rejects(code.activate(refused), new RegExp(UNTIMELY_QUERY));
  await code.dispose();
});

test('a query that brings events after a task that timed out fails, although they have a time of their own', async () => {
  const { code, task } = await began({ isReplaying: true });
  const timedOut = { ...task, atMs: task.atMs + 5_000, historySizeBytes: 1_000, historyLength: task.startedId + 9 };
  await code.activate(timedOut);
  await assert.rejects(code.activate({ ...timedOut, isReplaying: true, jobs: [QUERY] }), new RegExp(UNTIMELY_QUERY));
  await code.dispose();
});

test('a query is answered after a replay without new events, and after each later task', async () => {
  const { code, task } = await began({ isReplaying: true });
  const query = (startedId: number) => code.activate({ ...task, startedId, isReplaying: true, jobs: [QUERY] });
  const answered = async (startedId: number) => {
    const { commands } = await query(startedId);
    assert.ok(commands.every(({ respondToQuery }) => respondToQuery?.succeeded));
  };
  await answered(task.startedId + 2);
  for (const more of [6, 12]) {
    await code.activate({ ...task, startedId: task.startedId + more, atMs: task.atMs + more });
    await answered(task.startedId + more);
  }
  await code.dispose();
});

test('a query is answered after the second task that follows a replay, and with the first one', async () => {
  for (const [queryId, tasks] of [
    ['of a task', 1],
    ['legacy_query', 2],
  ] as const) {
    const { code, task } = await began({ isReplaying: true });
    for (let count = 1; count <= tasks; count += 1)
      await code.activate({ ...task, startedId: task.startedId + 6 * count, atMs: task.atMs + count });
    const jobs = [{ ...QUERY, queryWorkflow: { ...QUERY.queryWorkflow, queryId } }];
    await code.activate({ ...task, startedId: task.startedId + 6 * tasks, isReplaying: true, jobs });
    await code.dispose();
  }
});
