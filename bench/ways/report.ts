/** The tables and the plots of a comparison. */
import { noteOfMissed } from '../load/rounds.ts';
import { barPlot } from '../plot/bar-plot.ts';
import { cumulativePlot } from '../plot/cumulative-plot.ts';
import { ms, number, percent, spreadText, timesText } from '../report/amounts.ts';
import type { Report, Table } from '../report/report.ts';
import { timesAsMuch, type Taken } from '../statistics/differences.ts';
import { ascending, mean, spreadOf } from '../statistics/spread.ts';
import type { Block, BlockPlan } from './block.ts';
import type { Steady, SteadyPlan } from './steady.ts';
import type { Way } from './way.ts';

export interface Comparison {
  /** The first one is what the others are compared with. */
  ways: readonly Pick<Way, 'name' | 'lacks'>[];
  /** Ways that had no turn. */
  missed: readonly string[];
  plan: BlockPlan & SteadyPlan & { rounds: number };
  /** Windows that were measured again, because the machine was slower. */
  again: number;
  held: readonly Block[];
  steady: readonly Steady[];
  /** The tools that are compared, with their versions. */
  tools: Record<string, string>;
}

export function reportWays(compared: Comparison): Report {
  const { ways, missed, plan, again, held, steady, tools } = compared;
  const names = ways.map(({ name }) => name);
  const lateness = names.map((name) => ({
    name,
    values: ascending(of(held, name).flatMap(({ lateMs }) => lateMs)),
  }));
  const cpu = names.map((name) => ({ name, value: meanOf(held, name, (it) => it.cpuMsPerRead) }));
  return {
    plan: { ...plan, tools },
    figures: {
      late: Object.fromEntries(lateness.map(({ name, values }) => [name, spreadOf(values)])),
      cpuMsPerRead: Object.fromEntries(cpu.map(({ name, value }) => [name, value])),
      timesCpuPerRead: Object.fromEntries(
        names.map((name) => [name, times(compared, held, name, (it) => it.cpuMsPerRead)]),
      ),
      timesCpuPerWait: Object.fromEntries(
        names.map((name) => [name, times(compared, steady, name, (it) => it.cpuMsPerWait)]),
      ),
    },
    rounds: [
      ...held.map((block) => ({ kind: 'held', ...block, lateMs: undefined })),
      ...steady.map((block) => ({ kind: 'steady', ...block, seenAfterMs: undefined })),
    ],
    tables: [heldTable(compared), steadyTable(compared), lacksTable(compared)],
    plots: {
      lateness: cumulativePlot('Part of the reads that are this late, or less', lateness),
      cpu: barPlot(
        'CPU time of a read, in all processes',
        cpu.map(({ name, value }) => ({ name, value, text: ms(value) })),
      ),
    },
    notes: [`${again} windows were measured again, because the machine was slower.`, ...noteOfMissed(missed)],
  };
}

const of = <T extends Taken>(all: readonly T[], name: string): T[] => all.filter(({ way }) => way === name);

const meanOf = <T extends Taken>(all: readonly T[], name: string, value: (it: T) => number): number =>
  mean(of(all, name).map(value));

/** How many times as much as the first way, in pairs of the same round. */
function times<T extends Taken>({ ways }: Comparison, all: readonly T[], way: string, value: (it: T) => number) {
  const first = ways[0]!.name;
  return way === first ? null : timesAsMuch(all, { way, as: first }, value, Math.random);
}

function heldTable(compared: Comparison): Table {
  const { ways, held, plan } = compared;
  const { waits, intervalMs, measureMs, rounds } = plan;
  return {
    title: `${waits} waits held, a read each ${intervalMs / 1_000} s, ${rounds} rounds of ${measureMs / 1_000} s`,
    head: [
      ...['way', 'reads made', 'late: median / p99 / most', 'CPU a read', `× ${ways[0]!.name}`],
      ...['CPU of the service', 'memory'],
    ],
    rows: ways.map(({ name }) => {
      const mean = (value: (it: Block) => number) => meanOf(held, name, value);
      return [
        name,
        percent(mean((it) => it.readsMade) / mean((it) => it.readsDue)),
        spreadText(spreadOf(ascending(of(held, name).flatMap(({ lateMs }) => lateMs)))),
        ms(mean((it) => it.cpuMsPerRead)),
        timesText(times(compared, held, name, (it) => it.cpuMsPerRead)),
        ms(mean((it) => it.serviceCpuMsPerRead)),
        `${number(mean((it) => it.memoryMb))} MB`,
      ];
    }),
  };
}

function steadyTable(compared: Comparison): Table {
  const { ways, steady } = compared;
  return {
    title: 'Waits that begin and end all the time, from the request to the read that sees the end',
    head: ['way', 'CPU a wait', `× ${ways[0]!.name}`, 'end seen after: median / p99 / most'],
    rows: ways.map(({ name }) => [
      name,
      ms(meanOf(steady, name, (it) => it.cpuMsPerWait)),
      timesText(times(compared, steady, name, (it) => it.cpuMsPerWait)),
      spreadText(spreadOf(ascending(of(steady, name).flatMap(({ seenAfterMs }) => seenAfterMs)))),
    ]),
  };
}

const lacksTable = ({ ways }: Comparison): Table => ({
  title: 'What Belay does and the others leave out',
  head: ['way', 'without'],
  rows: ways.flatMap(({ name, lacks }) => (lacks === '' ? [] : [[name, lacks]])),
});
