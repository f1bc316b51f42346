import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bundleFromSource } from '../../../../src/worker/bundle/bundle-from-source.ts';
import { UNTIMELY_QUERY } from '../../../../src/contract/names.ts';
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

/** An operation after its first task. */
async function began() {
  const { workflowId, history: recorded } = readHistories().find(({ type }) => type === 'deploySite')!;
  const { history, facts } = importHistory(workflowId, recorded);
  const [{ startedId, atMs, incoming }] = stepsOf(history, 0) as [ReturnType<typeof stepsOf>[number]];
  const code = await sandboxes.open(facts);
  const jobs = incoming.flatMap((event) => jobOf(event, facts) ?? []);
  const task = { startedId, atMs, isReplaying: false, flags: [] };
  await code.activate({ ...task, jobs });
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
  const query = { queryId: 'q', queryType: 'progress', arguments: [], headers: {} };
  await code.activate({ ...refused, isReplaying: true, jobs: [{ variant: 'queryWorkflow', queryWorkflow: query }] });
  // The signal and its scheduled task have the ids of the events that the server dropped.
  await assert.rejects(code.activate(refused), new RegExp(UNTIMELY_QUERY));
  await code.dispose();
});
