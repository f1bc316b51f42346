/** Runs one part as a program: reads its options, measures, writes and prints the report, and ends what was started. */
import { inspect } from 'node:util';
import { endAll } from '../../test/support/at-end.ts';
import { minutesOf, PARTS, type PartName } from '../parts.ts';
import { load, machine, versions } from './machine.ts';
import { parseOptions, type Options } from './options.ts';
import { tableText, type Report } from './report.ts';
import { writeReport } from './write-report.ts';

const MINUTE_MS = 60_000;

export interface PartContext extends Pick<Options, 'isQuick' | 'given'> {
  /** When the part should be over. */
  deadlineMs: number;
}

export async function runPart(part: PartName, measure: (context: PartContext) => Promise<Report>): Promise<void> {
  try {
    await measureAndReport(part, measure);
  } catch (error) {
    process.stderr.write(`${part} failed: ${inspect(error)}\n`);
    process.exitCode = 1;
  } finally {
    await endAll();
  }
}

async function measureAndReport(part: PartName, measure: (context: PartContext) => Promise<Report>): Promise<void> {
  const {
    isQuick,
    folder,
    given,
    minutes = minutesOf(part, isQuick),
  } = parseOptions(process.argv.slice(2), PARTS[part].options);
  const [started, loadBefore] = [new Date(), load()];
  const deadlineMs = started.getTime() + minutes * MINUTE_MS;
  const report = await measure({ isQuick, deadlineMs, given });
  const circumstances = {
    ...{ part, isQuick },
    startedAt: started.toISOString(),
    tookS: Math.round((Date.now() - started.getTime()) / 1_000),
    load: [loadBefore, load()] as const,
    machine: machine(),
    versions: await versions(),
  };
  const files = await writeReport(folder, circumstances, report);
  const lines = [...report.tables.flatMap((table) => [tableText(table), '']), ...(report.notes ?? [])];
  process.stdout.write(`${lines.join('\n')}\n${circumstances.tookS} s. Written: ${files.join(', ')}\n`);
}

/** What a long part does now, for those who watch. */
export const progress = (text: string): void => void process.stderr.write(`${text}\n`);
