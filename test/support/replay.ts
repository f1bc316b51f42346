/** Replays the histories that suites made, to prove that the workflows are deterministic. */
import assert from 'node:assert/strict';
import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { openCached } from '../sim/core/cached-execution.ts';
import { isCommanded, type HistoryEvent } from '../sim/core/events.ts';
import { importHistory } from '../sim/core/import-history.ts';
import { openSandboxes } from '../sim/core/sdk.ts';
import { testBundle } from './workflow-bundle.ts';
import { NO_REPORTS } from './no-reports.ts';

interface Replay {
  suite: string;
  client: () => Client;
  /** That many histories at least, so that the test cannot pass without any. */
  least: number;
}

export const replays: Replay[] = [];

/**
 * Has the histories of this suite replayed after the suites of its group (replay-tests.ts). A replay turns on a hook
 * of the SDK for the rest of the process, and from then on every promise of the tests costs a stack trace.
 */
export function replayLater(suite: string, client: () => Client, least: number): void {
  replays.push({ suite, client, least });
}

type Recorded = { workflowId: string; history: temporal.api.history.v1.IHistory };

/** @returns the histories */
export async function replayAll({ client, least }: Replay): Promise<Recorded[]> {
  const histories: Recorded[] = [];
  async function* recorded() {
    for await (const it of client().workflow.list().intoHistories()) {
      histories.push(it as Recorded);
      yield it;
    }
  }
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { ...NO_REPORTS, workflowBundle: await testBundle() },
    recorded(),
  )) {
    assert.equal(error, undefined, `${workflowId}: ${error?.message}`);
  }
  assert.ok(histories.length >= least, `${histories.length} histories`);
  return histories;
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
    if (wasKeptAlive(events)) continue;
    const cached = await openCached(sandboxes, facts);
    await cached.replayAll(events);
    await cached.dispose();
    simulated += 1;
  }
  await sandboxes.close();
  return simulated;
}

/**
 * Whether a task was taken again only because a local activity took long. The marker of such an activity stands in an
 * earlier task than what the code did with it, and the simulator knows no such histories. A task that an update began
 * follows another one directly, too.
 */
function wasKeptAlive(events: readonly HistoryEvent[]): boolean {
  return events.some((event, index) => {
    if (event.kind !== 'taskCompleted') return false;
    const commanded = events.filter((it) => isCommanded(it) && it.taskId === event.id);
    const next = events.slice(index + 1).find((it) => !isCommanded(it));
    const isForUpdate = () => acceptsUpdate(events, index);
    return commanded.at(-1)?.kind === 'localActivity' || (next?.kind === 'taskScheduled' && !isForUpdate());
  });
}

/** Whether the first task that is completed after this event accepts an update. */
function acceptsUpdate(events: readonly HistoryEvent[], index: number): boolean {
  const completed = events.slice(index + 1).find(({ kind }) => kind === 'taskCompleted');
  return events.some((it) => it.kind === 'updateAccepted' && it.taskId === completed?.id);
}
