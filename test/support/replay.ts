/** Replays the histories that suites made, to prove that the workflows are deterministic. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { writeHistory, type Recorded } from '../histories/kept.ts';
import { openCached } from '../sim/core/cached-execution.ts';
import { importHistory } from '../sim/core/import-history.ts';
import { openSandboxes } from '../sim/core/sdk.ts';
import { testBundle } from './workflow-bundle.ts';
import { NO_REPORTS } from './no-reports.ts';
import type { Replay } from './replay-later.ts';

/** All that the suite made. */
export async function historiesOf({ suite, client, least }: Replay): Promise<Recorded[]> {
  const histories: Recorded[] = [];
  for await (const it of client().workflow.list().intoHistories()) histories.push(withOwnRunId(it as Recorded));
  assert.ok(histories.length >= least, `the suite of ${suite} made ${histories.length} histories`);
  return histories;
}

/** A replay takes the run id of the first event. After a reset, that is the id of the execution that was reset. */
function withOwnRunId(recorded: Recorded): Recorded {
  const events = recorded.history.events ?? [];
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  for (const { workflowTaskFailedEventAttributes: failed } of events)
    if (started && failed?.newRunId) started.originalExecutionRunId = failed.newRunId;
  return recorded;
}

/** The newest of those with the same events in the same order: a replay of the others would compare the same commands again. */
export const oneOfEachShape = (histories: readonly Recorded[]): Recorded[] => [
  ...new Map(histories.toReversed().map((it) => [shapeOf(it), it])).values(),
];

function shapeOf({ history }: Recorded): string {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  const names = (history.events ?? []).map((it) => [
    it.eventType,
    it.activityTaskScheduledEventAttributes?.activityType?.name,
    it.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType?.name,
    it.signalExternalWorkflowExecutionInitiatedEventAttributes?.signalName,
    it.workflowExecutionSignaledEventAttributes?.signalName,
  ]);
  return JSON.stringify([started?.workflowType?.name, names]);
}

export async function replayAll(histories: readonly Recorded[]): Promise<void> {
  const options = { ...NO_REPORTS, workflowBundle: await testBundle() };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    if (error === undefined) continue;
    const failed = histories.findLast((it) => it.workflowId === workflowId);
    assert.fail(`${workflowId}: ${error.message}${failed === undefined ? '' : `\nIts history: ${kept(failed)}`}`);
  }
}

/** @returns the file with the history, whose server ends with the tests */
function kept(recorded: Recorded): string {
  const file = join(tmpdir(), `belay-history-${encodeURIComponent(recorded.workflowId)}.json`);
  writeHistory(file, recorded);
  return file;
}

/** The types that the simulator plays. */
const SIMULATED = [
  ...['backupThenDeploy', 'backupOnly', 'deployOnly', 'watchDeployment', 'backupServer', 'deploySite', 'recordBackup'],
  ...['rollOut', 'handleEvent', 'sendNotifications'],
];

/** Feeds the histories to the simulator's model of the core, which compares every command. @returns how many */
export async function simulateAll(histories: readonly Recorded[]): Promise<number> {
  const sandboxes = await openSandboxes((await testBundle()).codePath);
  let simulated = 0;
  for (const { workflowId, history } of histories) {
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    if (!SIMULATED.includes(started?.workflowType?.name ?? '')) continue;
    const { history: events, facts } = importHistory(workflowId, history);
    const cached = await openCached(sandboxes, facts);
    await cached.replayAll(events);
    await cached.dispose();
    simulated += 1;
  }
  await sandboxes.close();
  return simulated;
}
