/** The tables and plots of ways, or builds, beside each other. */
import { cumulativePlot } from '../plot/cumulative-plot.ts';
import { linePlot } from '../plot/line-plot.ts';
import { fixed, NONE, number, timesText } from '../report/amounts.ts';
import type { Report, Table } from '../report/report.ts';
import { timesAsMuch, type Difference } from '../statistics/differences.ts';
import { lineThrough, type Point } from '../statistics/line-fit.ts';
import { ascending, mean } from '../statistics/spread.ts';
import type { Step } from './climb.ts';
import { noteOfMissed } from './rounds.ts';
import { stepJson, stepTable } from './step-report.ts';

/** How the runs ended, after all were told to complete. */
export interface Ended {
  completed: number;
  /** Outcomes that are not `completed`. */
  others: string[];
  /** POSTs to sites that had one already. */
  requestsAgain: number;
}

export interface InFlightRound {
  way: string;
  round: number;
  steps: Step[];
  ended: Ended;
}

export interface InFlight {
  /** The others are compared with the first one. */
  ways: readonly string[];
  /** Ways that had no turn. */
  missed: readonly string[];
  plan: {
    counts: readonly number[];
    intervalMs: number;
    measureMs: number;
    rounds: number;
    /** The commits of the builds that are compared, by name. */
    builds: Record<string, string | null>;
  };
  /** Windows that were measured again. */
  again: number;
  measured: readonly InFlightRound[];
}

/** Of the worker and Temporal. */
const cpuOf = ({ cpuMsPerRead: { worker, server } }: Step): number => worker + server;

export function reportInFlight(all: InFlight): Report {
  const { ways, missed, plan, again, measured } = all;
  const rows = plan.counts.flatMap((_, index) =>
    ways.flatMap((name) =>
      measured
        .filter(({ way, steps }) => way === name && steps[index])
        .map((it) => ({ name: `${name}, round ${it.round + 1}`, step: it.steps[index]! })),
    ),
  );
  const cpu = ways.map((name) => ({ name, points: meanPoints(all, name, cpuOf) }));
  const memory = ways.map((name) => {
    const points = pointsOf(all, name, (step) => step.workerMemoryMb);
    const fit = lineThrough(points);
    return { name: `${name}: ${fit === null ? NONE : fixed(fit.slope, 2)} MB a run`, points, fit };
  });
  return {
    plan,
    figures: {
      times: Object.fromEntries(ways.slice(1).map((way) => [way, timesByCount(all, way)])),
      cpuMsPerRead: Object.fromEntries(cpu.map(({ name, points }) => [name, points])),
      workerMemory: Object.fromEntries(memory.map(({ fit }, index) => [ways[index]!, fit])),
    },
    rounds: measured.map(({ steps, ...it }) => ({ ...it, steps: steps.map(stepJson) })),
    tables: [
      stepTable(`A read each ${plan.intervalMs / 1_000} s, windows of ${plan.measureMs / 1_000} s`, rows),
      timesTable(all),
      endTable(all),
    ],
    plots: {
      ...Object.fromEntries(plan.counts.map((count, index) => [`lateness-${count}`, latenessPlot(all, count, index)])),
      cpu: linePlot({
        title: 'CPU time of a read, in the worker and Temporal',
        xText: 'waits held',
        yText: 'ms',
        logY: true,
        lines: cpu,
      }),
      memory: linePlot({ title: 'Resident memory of the worker', xText: 'waits held', yText: 'MB', lines: memory }),
    },
    notes: [`${again} windows were measured again, because the machine was slower.`, ...noteOfMissed(missed)],
  };
}

function pointsOf({ measured }: InFlight, name: string, of: (step: Step) => number): Point[] {
  return measured.flatMap(({ way, steps }) => (way === name ? steps.map((step): Point => [step.held, of(step)]) : []));
}

function meanPoints({ measured, plan }: InFlight, name: string, of: (step: Step) => number): Point[] {
  return plan.counts.flatMap((count, index): Point[] => {
    const steps = measured.flatMap(({ way, steps: all }) => (way === name && all[index] ? [all[index]] : []));
    return steps.length === 0 ? [] : [[count, mean(steps.map(of))]];
  });
}

function latenessPlot({ ways, measured }: InFlight, count: number, index: number): string {
  const curves = ways.map((name) => ({
    name,
    values: ascending(measured.flatMap(({ way, steps }) => (way === name ? (steps[index]?.lateMs ?? []) : []))),
  }));
  return cumulativePlot(`${number(count)} waits held: part of the reads that are this late, or less`, curves);
}

interface Times {
  count: number;
  cpu: Difference | null;
  workerCpu: Difference | null;
  lateP99: Difference | null;
}

/** How many times as much as the first way, in pairs of the same round. */
function timesByCount({ ways, measured, plan }: InFlight, way: string): Times[] {
  return plan.counts.map((count, index) => {
    const taken = measured.flatMap((it) => (it.steps[index] ? [{ ...it, step: it.steps[index] }] : []));
    const times = (of: (step: Step) => number) =>
      timesAsMuch(taken, { way, as: ways[0]! }, ({ step }) => of(step), Math.random);
    return {
      count,
      cpu: times(cpuOf),
      workerCpu: times((it) => it.cpuMsPerRead.worker),
      lateP99: times((it) => it.late.p99),
    };
  });
}

function timesTable(all: InFlight): Table {
  const first = all.ways[0]!;
  return {
    title: `Times as much as ${first}: median of the rounds, and its bootstrap interval of 95 %`,
    head: ['waits', 'held', 'CPU a read', 'of the worker', 'late, p99'],
    rows: all.ways
      .slice(1)
      .flatMap((way) =>
        timesByCount(all, way).map(({ count, cpu, workerCpu, lateP99 }) => [
          way,
          number(count),
          ...[cpu, workerCpu, lateP99].map(timesText),
        ]),
      ),
  };
}

function endTable({ measured }: InFlight): Table {
  return {
    title: 'How the runs ended',
    head: ['waits', 'round', 'completed', 'other outcomes', 'failed starts', 'requests sent again'],
    rows: measured.map(({ way, round, ended, steps }) => [
      way,
      String(round + 1),
      number(ended.completed),
      ended.others.join(', ') || NONE,
      number(steps.reduce((sum, it) => sum + it.failedStarts, 0)),
      number(ended.requestsAgain),
    ]),
  };
}
