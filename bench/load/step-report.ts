/** Tables and plots of steps and kills, for the parts that hold waits. */
import { cumulativePlot } from '../plot/cumulative-plot.ts';
import { linePlot } from '../plot/line-plot.ts';
import { fixed, ms, NONE, number, seconds, spreadText } from '../report/amounts.ts';
import type { Table } from '../report/report.ts';
import type { Kill } from './kill.ts';
import type { Step } from './climb.ts';

/** Without what only plots need. */
export const stepJson = (step: Step) => ({ ...step, lateMs: undefined });
export const killJson = (kill: Kill) => ({ ...kill, afterMs: undefined });

/** @param rows each step with what it is called */
export function stepTable(title: string, rows: readonly { name: string; step: Step }[]): Table {
  return {
    title,
    head: [
      ...['waits', 'held', 'begun', 'begun a second', 'late meanwhile', 'reads made, of those due'],
      ...['late: median / p99 / most', 'CPU a read: worker', 'its workflows', 'Temporal', 'service', 'worker memory'],
    ],
    rows: rows.map(({ name, step }) => [
      name,
      number(step.held),
      `${number(step.added)} in ${seconds(step.begunWithinMs)}${step.notBegun === 0 ? '' : `, ${number(step.notBegun)} not`}`,
      fixed(step.beginsPerSecond, 1),
      spreadText(step.lateMeanwhile),
      `${number(step.made)} of ${number(step.asked)}`,
      spreadText(step.late),
      ...[step.cpuMsPerRead.worker, step.cpuMsPerRead.workflows, step.cpuMsPerRead.server].map(ms),
      `${fixed(step.cpuMsPerRead.service, 2)} ms`,
      `${number(step.workerMemoryMb)} MB`,
    ]),
  };
}

export function killTable(title: string, kills: readonly { name: string; kill: Kill }[]): Table {
  return {
    title,
    head: ['waits', 'held', 'worker polls', 'first read', 'median', 'p99', 'last', 'never read', 'reads missed'],
    rows: kills.map(({ name, kill }) => [
      name,
      number(kill.waits),
      ...[kill.pollsAfterMs, kill.firstMs, kill.after.p50, kill.after.p99, kill.after.most].map(seconds),
      kill.unread === 0 ? NONE : number(kill.unread),
      `${number(Math.max(0, kill.due - kill.made))} of ${number(kill.due)}`,
    ]),
  };
}

export const readsAroundKillPlot = (title: string, kills: readonly { name: string; kill: Kill }[]): string =>
  linePlot({
    ...{ title, xText: 'seconds', yText: 'reads a second', dots: false },
    lines: kills.map(({ name, kill }) => ({ name, points: kill.perSecond.map((count, second) => [second, count]) })),
    // They are killed after the same time, and their workers start within a moment.
    marks: kills.slice(0, 1).map(({ kill }) => ({ x: kill.killedAtS, text: 'SIGKILL' })),
  });

export const firstReadsPlot = (title: string, kills: readonly { name: string; kill: Kill }[]): string =>
  cumulativePlot(
    title,
    kills.map(({ name, kill }) => ({ name, values: kill.afterMs })),
  );
