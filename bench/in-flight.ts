/**
 * Starts many deployments at once, keeps them in progress, and measures the burst of starts, how late their reads are,
 * and what they cost. Part of `npm run bench`; takes numbers of runs as arguments, such as `100 400
 * 800`, `--waits pooled`, and an `--interval` in seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pMap from 'p-map';
import { startSandbox } from '../src/sandbox/server.ts';
import { connect, type Run } from '../src/starter.ts';
import type { RunResult, Waits } from '../src/contract/run.ts';
import { atEnd, endAll } from '../test/support/at-end.ts';
import { eventually } from '../test/support/eventually.ts';
import { resultOf } from '../test/support/outcome.ts';
import { startWorkerProcess } from '../test/support/processes.ts';
import { startTemporal } from '../test/support/temporal.ts';
import { TOKEN } from '../test/support/world.ts';
import { cpuOf, memoryMb, workerThreadsMs } from './processes.ts';
import { shareOf } from './statistics/share-of.ts';

const { values, positionals } = parseArgs({
  options: { waits: { type: 'string', default: 'loop' }, interval: { type: 'string', default: '10' } },
  allowPositionals: true,
});
const waits = values.waits as Waits;
const counts = positionals.length > 0 ? positionals.map(Number) : [100, 400, 800];
const INTERVAL_MS = 1_000 * Number(values.interval);
/** Besides the first read of each, whose moment the others are compared with. */
const HELD_MS = 60_000;
/** So that no wait ends before all have begun. */
const TRIES = 1_000;
const STARTS_AT_ONCE = 50;
const EARLY_READS_MS = 5_000;
const LIMIT_MS = 5 * 60_000;

const sandbox = await startSandbox({ token: TOKEN });
atEnd(() => sandbox.close());
const { address, pid: serverPid } = await startTemporal();
const worker = await startWorkerProcess({
  TEMPORAL_ADDRESS: address,
  BELAY_API_URL: sandbox.url,
  BELAY_API_TOKEN: TOKEN,
});
const belay = await connect({ address });
atEnd(() => belay.close());
const workerPid = worker.process.pid!;

for (const [round, count] of counts.entries()) process.stdout.write(await measure(round, count));
await endAll();

async function measure(round: number, count: number): Promise<string> {
  const sites = Array.from({ length: count }, (_, index) => `r${round}a${index}`);
  for (const siteId of sites) sandbox.script({ site: siteId }, { ends: 'never' });
  const beganMs = Date.now();
  const [beforeBurst, memoryBefore] = [cpu(), memoryMb(workerPid)];
  const { runs, failed } = await startAll(sites);
  const startedMs = Date.now();
  await eventually('a request of every run', () => posted(sites) === count - failed, LIMIT_MS);
  const begunMs = Date.now();
  await sleep(INTERVAL_MS);
  const [before, fromMs] = [cpu(), Date.now()];
  await sleep(HELD_MS);
  const [after, toMs] = [cpu(), Date.now()];
  const memory = memoryMb(workerPid) - memoryBefore;
  for (const siteId of sites) sandbox.finish({ site: siteId }, 'completed');
  const results = await Promise.all(runs.map(resultOf));
  const late = lateness(sites, fromMs, toMs);
  const duringBurst = lateness(sites, beganMs, begunMs);
  const asked = (count * (toMs - fromMs)) / INTERVAL_MS;
  const spent = (name: keyof Cpu) => ((after[name] - before[name]) / late.length).toFixed(1);
  const burst = ((before.worker - beforeBurst.worker) / count).toFixed(0);
  return [
    `${count} deployments, started within ${seconds(startedMs - beganMs)}: ${failed} failed starts, ${problemsIn(results)}`,
    `  all requests were sent after ${seconds(begunMs - beganMs)}; until then, reads were late: ${textOf(duringBurst)}`,
    `  a start cost the worker ${burst} ms of CPU time, with its first reads`,
    `  then ${late.length} of ${Math.round(asked)} reads in ${seconds(toMs - fromMs)}, late: ${textOf(late)}`,
    `  CPU time of a read: ${spent('worker')} ms in the worker, ${spent('workflows')} ms of them in workflows, ${spent('server')} ms in Temporal`,
    `  memory of a run in the worker: ${(memory / count).toFixed(2)} MB`,
    '',
  ].join('\n');
}

async function startAll(sites: readonly string[]): Promise<{ runs: Run[]; failed: number }> {
  const runs: Run[] = [];
  let failed = 0;
  const start = (siteId: string) =>
    belay.start({ siteIds: [siteId], waits, deploy: { intervalMs: INTERVAL_MS, tries: TRIES } }).then(
      (run) => void runs.push(run),
      () => void (failed += 1),
    );
  await pMap(sites, start, { concurrency: STARTS_AT_ONCE });
  return { runs, failed };
}

function problemsIn(results: readonly RunResult[]): string {
  const deployments = results.flatMap((result) => result.deployments);
  const again = deployments.filter(({ trigger }) => trigger.attempts > 1).length;
  const posts = sandbox.journal.filter(({ request }) => request.startsWith('POST')).length;
  const other = deployments.filter(({ outcome }) => outcome !== 'completed').map(({ outcome }) => outcome);
  return `${posts} POSTs so far, ${again} requests sent again, ${other.length} not completed (${[...new Set(other)].join(', ')})`;
}

function posted(sites: readonly string[]): number {
  const paths = new Set(sites.map((siteId) => `POST /v1/sites/${siteId}/deploy`));
  return sandbox.journal.filter(({ request }) => paths.delete(request)).length;
}

/** How late each read of this time is, compared with the one of its run that is the earliest in its interval. Sorted. */
function lateness(sites: readonly string[], fromMs: number, toMs: number): number[] {
  const begun = new Map<string, number>();
  const times = new Map(sites.map((siteId): [string, number[]] => [siteId, []]));
  for (const { request, at } of sandbox.journal) {
    const [method, , , , siteId = ''] = request.split(/[ /]/);
    const atMs = Date.parse(at);
    if (method === 'POST') begun.set(siteId, atMs);
    else if (atMs > (begun.get(siteId) ?? Infinity) + EARLY_READS_MS) times.get(siteId)?.push(atMs);
  }
  const late = [...times.values()].flatMap((reads) => {
    const held = reads.filter((ms) => ms >= fromMs && ms < toMs);
    const phases = held.map((ms, index) => ms - index * INTERVAL_MS);
    const earliestMs = Math.min(...phases);
    return phases.map((ms) => ms - earliestMs);
  });
  return late.sort((a, b) => a - b);
}

function textOf(late: readonly number[]): string {
  if (late.length === 0) return 'none yet';
  return `median ${part(late, 0.5)}, p90 ${part(late, 0.9)}, p99 ${part(late, 0.99)}, most ${part(late, 1)}`;
}

interface Cpu {
  worker: number;
  workflows: number;
  server: number;
}

/** Milliseconds of CPU time so far. */
function cpu(): Cpu {
  return {
    worker: cpuOf(`/proc/${workerPid}`),
    workflows: workerThreadsMs(workerPid),
    server: cpuOf(`/proc/${serverPid}`),
  };
}

function part(sorted: readonly number[], share: number): string {
  return `${shareOf(sorted, share)} ms`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
