/**
 * Holds more and more pooled waits in one ramp, as a fleet has them, measures each number of them, and kills the worker
 * with all of them in flight. Options: `--counts 500,1000`, `--heap <MB of the worker>`. With `--quick`, it stops at 500.
 */
import { openStack } from './load/belay-stack.ts';
import { climb, type Climbed } from './load/climb.ts';
import { killAndFollow, type Kill } from './load/kill.ts';
import { createSteadiness } from './load/spin.ts';
import { firstReadsPlot, killJson, killTable, readsAroundKillPlot, stepJson, stepTable } from './load/step-report.ts';
import { cumulativePlot } from './plot/cumulative-plot.ts';
import { linePlot } from './plot/line-plot.ts';
import { fixed, NONE, number } from './report/amounts.ts';
import { numbers, positive } from './report/options.ts';
import type { Report } from './report/report.ts';
import { progress, runPart } from './report/run-part.ts';
import { startService } from './service/start-service.ts';
import { lineThrough, type Point } from './statistics/line-fit.ts';

const INTERVAL_MS = 10_000;
const INTERVALS_MEASURED = 4;
/** Runs that wait for admission cost Temporal something, so they are started as others begin. */
const BACKLOG = 200;
const BEFORE_KILL_MS = 20_000;
/** What the kill and the end of the part take. */
const SPARE_MS = 4 * 60_000;
const KB_PER_MB = 1_024;

await runPart('fleet', async ({ isQuick, deadlineMs, given }) => {
  const counts = numbers(given, 'counts', isQuick ? [250, 500] : [1_000, 2_000, 5_000, 10_000]);
  const heapMb = given.heap === undefined ? undefined : positive(given, 'heap', NaN);
  const plan = { counts, intervalMs: INTERVAL_MS, measureMs: INTERVALS_MEASURED * INTERVAL_MS, heapMb: heapMb ?? null };
  const service = await startService();
  const stack = await openStack(service, heapMb);
  progress(`holding ${counts.join(', ')} waits`);
  const steps = { ...plan, waits: 'pooled' as const, backlog: BACKLOG, deadlineMs: deadlineMs - SPARE_MS };
  const climbed = await climb(stack, service, 'fleet', steps, createSteadiness(0));
  progress(`killing the worker of ${climbed.sites.length} waits`);
  const kill = await killAndFollow(stack, service, climbed.sites, {
    intervalMs: INTERVAL_MS,
    beforeMs: BEFORE_KILL_MS,
  });
  const { again } = await service.counts();
  await stack.close();
  return reportFleet(plan, climbed, kill, again);
});

function reportFleet(plan: object & { counts: number[] }, { steps }: Climbed, kill: Kill, again: number): Report {
  const lineOf = (of: (step: (typeof steps)[number]) => number) => steps.map((step): Point => [step.held, of(step)]);
  const memory = lineOf((step) => step.workerMemoryMb);
  const slope = lineThrough(memory);
  const last = steps.at(-1)!;
  return {
    plan,
    figures: {
      workerKbPerWait: slope === null ? null : slope.slope * KB_PER_MB,
      workerKbPerFurtherWait: furtherKb(memory),
      requestsAgain: again,
      kill: killJson(kill),
    },
    rounds: steps.map(stepJson),
    tables: [
      stepTable(
        'Pooled waits, a read each 10 s',
        steps.map((step) => ({ name: 'pooled', step })),
      ),
      killTable('SIGKILL of the worker, from the start of the new one', [{ name: 'pooled', kill }]),
    ],
    plots: {
      lateness: cumulativePlot(
        'Part of the reads that are this late, or less',
        steps.map(({ held, lateMs }) => ({ name: `${number(held)} waits`, values: lateMs })),
      ),
      cpu: linePlot({
        ...{ title: 'CPU time of a read', xText: 'waits held', yText: 'ms', logY: true },
        lines: (['worker', 'workflows', 'server', 'service'] as const).map((name) => ({
          name: { worker: 'worker', workflows: 'its workflows', server: 'Temporal', service: 'service' }[name],
          points: lineOf((step) => step.cpuMsPerRead[name]),
        })),
      }),
      memory: linePlot({
        ...{ title: 'Resident memory', xText: 'waits held', yText: 'MB' },
        lines: [
          { name: 'worker', points: memory, fit: slope },
          { name: 'Temporal', points: lineOf((step) => step.serverMemoryMb) },
        ],
      }),
      sigkill: readsAroundKillPlot('Reads a second around a SIGKILL of the worker', [{ name: 'pooled', kill }]),
      'first-reads': firstReadsPlot('First read of each wait after the start of the new worker', [
        { name: 'pooled', kill },
      ]),
    },
    notes: [
      `Memory of the worker: ${memoryText(memory)}. Requests sent again: ${again}.`,
      ...(last.held < Math.max(...plan.counts)
        ? [`The time was over with ${number(last.held)} of ${number(Math.max(...plan.counts))} waits.`]
        : []),
    ],
  };
}

/** Once the cache of workflows is full, a further wait costs only itself: the line through the two largest numbers. */
function furtherKb(memory: readonly Point[]): number | null {
  const further = lineThrough(memory.slice(-2));
  return further === null ? null : further.slope * KB_PER_MB;
}

function memoryText(memory: readonly Point[]): string {
  const all = lineThrough(memory);
  const further = furtherKb(memory);
  if (all === null || further === null) return NONE;
  return `${fixed(all.slope * KB_PER_MB, 0)} KB a wait, ${fixed(further, 0)} KB between the two largest numbers`;
}
