/** `belay top --site`: the status of sites and apps at the service, as one snapshot, or until the user quits. */
import colors from 'picocolors';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import { named } from '../../contract/results.ts';
import { type Target, targetLabel } from '../../contract/target.ts';
import { durationText } from '../../contract/duration.ts';
import { plainText } from '../../contract/safe-text.ts';
import type { LiveLine } from '../../process/live-lines.ts';
import { ageText } from './show-in-flight.ts';
import { screenLines, tableLines, type Column } from '../../cli/table.ts';
import type { Reading, TargetReader } from '../../cli/target-reader.ts';
import { showUntilQuit, type Terminal } from './screen.ts';

const COLUMNS: Column[] = [
  { title: 'TARGET', cut: { to: 12, turn: 3 } },
  { title: 'STATUS', cut: { to: 12, turn: 2 } },
  { title: 'FOR', drop: 2 },
  { title: 'READ', drop: 1 },
  { title: 'PROBLEM', cut: { to: 24, turn: 1 }, wants: 24 },
];

/** The titles, then one line for each. @param width of the screen; null: nothing is cut */
export function targetsTable(readings: readonly Reading[], nowMs: number, width: number | null): LiveLine[] {
  const rows = readings.map(({ target, status, since, readAt, problem }) =>
    [
      targetLabel(target),
      status ?? '–',
      ageText(since, nowMs),
      readAt === null ? '–' : `${ageText(readAt, nowMs)} ago`,
      problem ?? '',
    ].map((cell) => plainText(cell)),
  );
  const [titles = '', ...lines] = tableLines(COLUMNS, rows, width);
  return [
    { text: titles, paint: colors.bold },
    ...readings.map((reading, index) => ({ text: lines[index] ?? '', paint: paintOf(reading) })),
  ];
}

function paintOf({ state, problem }: Reading): (text: string) => string {
  if (problem !== null || state === 'failed') return colors.red;
  return state === 'completed' ? colors.green : String;
}

export function targetsDocument(readings: readonly Reading[]): object {
  const targets = readings.map(({ target, status, state, readAt, problem }) => ({
    ...named(target),
    ...{ status, state, readAt, problem },
  }));
  return { schemaVersion: SCHEMA_VERSION, targets, error: null };
}

/** @returns the exit code */
export async function showTargets(
  reader: TargetReader,
  targets: readonly Target[],
  intervalMs: number,
  terminal: Terminal,
): Promise<number> {
  const following = reader.follow(targets, intervalMs);
  const title = `Latest deployments at ${reader.baseUrl}, read every ${durationText(intervalMs)}. Press q to quit.`;
  try {
    return await showUntilQuit(
      ({ rows, columns }) => screenLines([title], targetsTable(following.readings(), Date.now(), columns), rows),
      terminal,
    );
  } finally {
    following.stop();
  }
}
