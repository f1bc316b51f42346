/** The tables, the JSON document and the plots of a comparison. */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { barPlot, cumulativePlot } from '../plot.ts';
import type { Block, BlockPlan } from './block.ts';
import { medianOf } from '../statistics/differences.ts';
import type { Steady } from './steady.ts';
import type { Way } from './way.ts';

export interface Comparison {
  /** The first one is what the others are compared with. */
  ways: readonly Way[];
  plan: BlockPlan;
  rounds: number;
  /** Blocks that were measured again, because the machine was slower. */
  again: number;
  held: readonly Block[];
  steady: readonly Steady[];
}

interface Taken {
  way: string;
  round: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, it) => sum + it, 0) / values.length;
const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

/** How many times as much as the first way, in pairs of the same round. */
function timesFirst<T extends Taken>(all: readonly T[], first: string, way: string, of: (it: T) => number): string {
  if (way === first) return '1';
  const ratios = all.flatMap((it) => {
    const other = all.find(({ way: name, round }) => name === first && round === it.round);
    return it.way === way && other !== undefined ? [of(it) / of(other)] : [];
  });
  const { median, from, to } = medianOf(ratios, Math.random);
  return `${median.toFixed(2)} (${from.toFixed(2)} to ${to.toFixed(2)})`;
}

function heldTable({ ways, held, plan, rounds }: Comparison): string {
  const first = ways[0]!.name;
  const rows = ways.map(({ name, lacks }) => {
    const own = held.filter(({ way }) => way === name);
    const late = sorted(own.flatMap(({ lateMs }) => lateMs));
    const [made, due] = [own.map((it) => it.readsMade), own.map((it) => it.readsDue)];
    return [
      name,
      `${((100 * mean(made)) / mean(due)).toFixed(1)} %`,
      `${ms(mean(own.map((it) => it.lateP50Ms)))} / ${ms(mean(own.map((it) => it.lateP99Ms)))} / ${ms(late.at(-1) ?? 0)}`,
      ms(mean(own.map((it) => it.cpuMsPerRead))),
      timesFirst(held, first, name, (it) => it.cpuMsPerRead),
      `${Math.round(mean(own.map((it) => it.memoryMb)))} MB`,
      lacks,
    ];
  });
  const head = ['way', 'reads made', 'late: median / p99 / most', 'CPU a read', `× ${first}`, 'memory', 'without'];
  const title = `${plan.waits} waits held, a read each ${plan.intervalMs / 1_000} s, ${rounds} rounds of ${plan.measureMs / 1_000} s:`;
  return `${title}\n\n${table([head, ...rows])}`;
}

function steadyTable({ ways, steady }: Comparison): string {
  const first = ways[0]!.name;
  const rows = ways.map(({ name }) => {
    const own = steady.filter(({ way }) => way === name);
    return [
      name,
      ms(mean(own.map((it) => it.cpuMsPerWait))),
      timesFirst(steady, first, name, (it) => it.cpuMsPerWait),
      `${ms(mean(own.map((it) => it.seenAfterP50Ms)))} / ${ms(mean(own.map((it) => it.seenAfterP99Ms)))}`,
    ];
  });
  const head = ['way', 'CPU a wait', `× ${first}`, 'end seen after: median / p99'];
  return `Waits that begin and end all the time, from the request to the read that sees the end:\n\n${table([head, ...rows])}`;
}

function table([head = [], ...rows]: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [head, head.map(() => '---'), ...rows].map(line).join('\n');
}

export async function report(compared: Comparison, folder: string): Promise<void> {
  const { ways, plan, rounds, again, held, steady } = compared;
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, kernel: release(), node: process.version };
  const rounded = {
    held: held.map(({ lateMs, ...block }) => ({ ...block, mostLateMs: lateMs.at(-1) ?? null })),
    steady: steady.map(({ seenAfterMs, ...block }) => ({ ...block, mostSeenAfterMs: seenAfterMs.at(-1) ?? null })),
  };
  const late = ways.map(({ name }) => ({
    name,
    values: sorted(held.flatMap(({ way, lateMs }) => (way === name ? lateMs : []))),
  }));
  const bars = ways.map(({ name }) => {
    const value = mean(held.flatMap(({ way, cpuMsPerRead }) => (way === name ? [cpuMsPerRead] : [])));
    return { name, value, text: ms(value) };
  });
  await mkdir(folder, { recursive: true });
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('ways.json', `${JSON.stringify({ plan, rounds, machine, again, ...rounded }, null, 2)}\n`);
  await write('ways-lateness.svg', cumulativePlot('Part of the reads that are this late, or less', late));
  await write('ways-cpu.svg', barPlot('CPU time of a read, in all processes', bars));
  process.stdout.write(
    `${heldTable(compared)}\n\n${steadyTable(compared)}\n\n${again} blocks were measured again. Written to ${folder}.\n`,
  );
}
