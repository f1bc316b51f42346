/**
 * Kills the worker of many operations with long histories, starts a new one, and measures when each of them is read again.
 * Options: `--count <operations> --events <of each> --interval <seconds>`.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { deploySiteId } from '../src/contract/ids.ts';
import { atEnd } from '../test/support/at-end.ts';
import { connectTo } from '../test/support/connect.ts';
import { eventually } from '../test/support/eventually.ts';
import { openStack } from './load/belay-stack.ts';
import { hold } from './load/hold.ts';
import { killAndFollow } from './load/kill.ts';
import { firstReadsPlot, killJson, killTable, readsAroundKillPlot } from './load/step-report.ts';
import { number } from './report/amounts.ts';
import { positive } from './report/options.ts';
import { runPart } from './report/run-part.ts';
import { startService } from './service/start-service.ts';
import { ascending, spreadOf } from './statistics/spread.ts';

const LIMIT_MS = 30 * 60_000;
const STARTED_TO_CLOSE = proto.temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE;

await runPart('cold-restart', async ({ isQuick, given }) => {
  const count = positive(given, 'count', isQuick ? 20 : 150);
  const events = positive(given, 'events', isQuick ? 60 : 400);
  const intervalMs = 1_000 * positive(given, 'interval', 2);
  const service = await startService();
  const stack = await openStack(service);
  const connection = await connectTo(stack.address);
  atEnd(() => connection.close());
  const client = new Client({ connection });
  const sites = Array.from({ length: count }, (_, index) => `a${index}`);
  const handles = sites.map((siteId) => client.workflow.getHandle(deploySiteId(siteId)));
  const histories = async () =>
    (await Promise.all(handles.map((handle) => handle.fetchHistory()))).map((it) => it.events ?? []);

  await hold(stack, service, sites, { waits: 'loop', intervalMs, backlog: Infinity, deadlineMs: Infinity });
  for (const handle of handles) {
    const isLong = async () => (await handle.describe()).historyLength >= events;
    await eventually(`${events} events`, async () => (await isLong()) || sleep(1_000, false), LIMIT_MS);
  }
  const memoryBeforeMb = peakMb(stack.workerPid);
  const lengths = ascending((await histories()).map(({ length }) => length));
  const killedMs = Date.now();
  const kill = await killAndFollow(stack, service, sites, { intervalMs, beforeMs: 5 * intervalMs });
  const timedOut = (await histories()).map((all) => {
    const since = all.filter(({ eventTime }) => Number(eventTime?.seconds) * 1_000 >= killedMs);
    // Not those that waited in the queue of the worker that was killed.
    return since.filter((it) => it.workflowTaskTimedOutEventAttributes?.timeoutType === STARTED_TO_CLOSE).length;
  });
  const figures = {
    events: spreadOf(lengths),
    kill: killJson(kill),
    tasksTimedOut: timedOut.reduce((sum, it) => sum + it, 0),
    tasksTimedOutOfOne: Math.max(...timedOut),
    memoryBeforeMb,
    memoryAfterMb: peakMb(stack.workerPid),
  };
  const name = `${number(figures.events.p50)} events each`;
  return {
    plan: { count, events, intervalMs },
    figures,
    rounds: [figures],
    tables: [killTable('SIGKILL of the worker, from the start of the new one', [{ name, kill }])],
    plots: {
      'reads-a-second': readsAroundKillPlot('Reads a second around a SIGKILL of the worker', [{ name, kill }]),
      'first-reads': firstReadsPlot('First read of each wait after the start of the new worker', [{ name, kill }]),
    },
    notes: [
      `Workflow tasks timed out: ${figures.tasksTimedOut}, of one operation ${figures.tasksTimedOutOfOne} at most.`,
      `Most memory of the worker: ${number(memoryBeforeMb)} MB before, ${number(figures.memoryAfterMb)} MB after the restart.`,
    ],
  };
});

/** The most memory that the process has used. */
function peakMb(pid: number): number {
  const kb = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kb) / 1_024);
}
