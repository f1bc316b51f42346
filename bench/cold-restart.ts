/**
 * Kills the worker of many operations with long histories, starts a new one, and measures how late each of them reads
 * again. Part of `npm run bench`; takes other numbers of operations, events and seconds of the interval as arguments.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { deploySiteId } from '../src/contract/ids/workflow-ids.ts';
import { startSandbox } from '../src/sandbox/server.ts';
import { connect } from '../src/starter.ts';
import { atEnd, endAll } from '../test/support/at-end.ts';
import { connectTo } from '../test/support/connect.ts';
import { eventually } from '../test/support/eventually.ts';
import { startWorkerProcess, type Started } from '../test/support/processes.ts';
import { startTemporal } from '../test/support/temporal.ts';
import { TOKEN } from '../test/support/world.ts';
import { shareOf } from './statistics/share-of.ts';

const [count = 300, events = 500, intervalS = 5] = process.argv.slice(2).map(Number);
const LIMIT_MS = 30 * 60_000;
const STARTED_TO_CLOSE = proto.temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE;

const sandbox = await startSandbox({ token: TOKEN });
atEnd(() => sandbox.close());
const { address } = await startTemporal();
const env = { TEMPORAL_ADDRESS: address, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
const connection = await connectTo(address);
atEnd(() => connection.close());
const client = new Client({ connection });
const belay = await connect({ connection, taskQueue: 'belay' });
const sites = Array.from({ length: count }, (_, index) => `a${index}`);
const latest = (siteId: string) => `GET /v1/sites/${siteId}/deployments/latest`;

/** When each site was read first after this moment. */
function firstReads(sinceMs: number): Map<string, number> {
  const wanted = new Map(sites.map((siteId) => [latest(siteId), siteId]));
  const first = new Map<string, number>();
  for (const { request, at } of sandbox.journal) {
    const siteId = wanted.get(request);
    if (siteId !== undefined && Date.parse(at) >= sinceMs && !first.has(siteId)) first.set(siteId, Date.parse(at));
  }
  return first;
}

function part(sorted: readonly number[], share: number): string {
  return `${(shareOf(sorted, share) / 1_000).toFixed(1)} s`;
}

/** The most memory that the process has used. */
function peakMb({ process: { pid } }: Started): number {
  const kb = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kb) / 1_024);
}

const historiesOf = () =>
  Promise.all(sites.map((siteId) => client.workflow.getHandle(deploySiteId(siteId)).fetchHistory()));

const first = await startWorkerProcess(env);
const pace = { intervalMs: intervalS * 1_000, tries: 2_000 };
for (const siteId of sites) {
  sandbox.script({ site: siteId }, { ends: 'never' });
  await belay.start({ siteIds: [siteId], deploy: pace });
}
const isLong = async (siteId: string) =>
  ((
    await client.workflow
      .getHandle(deploySiteId(siteId))
      .describe()
      .catch(() => null)
  )?.historyLength ?? 0) >= events;
for (const siteId of sites) {
  await eventually(`${events} events`, async () => (await isLong(siteId)) || sleep(1_000, false), LIMIT_MS);
}
const before = peakMb(first);
first.process.kill('SIGKILL');
await first.finished;
const lengths = (await historiesOf()).map(({ events: all }) => all?.length ?? 0).sort((a, b) => a - b);

const startedMs = Date.now();
const second = await startWorkerProcess(env);
const readyMs = Date.now() - startedMs;
await eventually('a read of every operation', () => firstReads(startedMs).size === count, LIMIT_MS);
const delays = [...firstReads(startedMs).values()].map((atMs) => atMs - startedMs).sort((a, b) => a - b);
// The second beat is that of a worker which has them all in its cache, if it can.
await sleep(2 * pace.intervalMs);
const timedOut = (await historiesOf()).map(({ events: all }) => {
  const since = all?.filter(({ eventTime }) => Number(eventTime?.seconds) * 1_000 >= startedMs);
  // Not those that waited in the queue of the worker that was killed.
  return since?.filter((it) => it.workflowTaskTimedOutEventAttributes?.timeoutType === STARTED_TO_CLOSE).length ?? 0;
});
const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
process.stdout.write(
  [
    `${count} operations with ${median} events each (${lengths.at(-1)} at most), read every ${intervalS} s`,
    `the new worker polls after ${(readyMs / 1_000).toFixed(1)} s`,
    `first read of each after: median ${part(delays, 0.5)}, p99 ${part(delays, 0.99)}, last ${part(delays, 1)}`,
    `workflow tasks timed out: ${timedOut.reduce((a, b) => a + b, 0)}, of one operation ${Math.max(...timedOut)} at most`,
    `memory of the worker: ${before} MB before, ${peakMb(second)} MB after the restart`,
    '',
  ].join('\n'),
);
await endAll();
