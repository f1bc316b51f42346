/** The table of `belay list`. Pure. */
import type { RunResult } from '../contract/run.ts';
import { commitText } from '../features/reports/shapes.ts';
import { glanceText } from '../contract/duration.ts';
import { plainText } from '../contract/safe-text.ts';
import { targetLabel } from '../contract/target.ts';
import { screenWidth } from '../process/live-lines.ts';
import { colorize, reasonIn, secondsOf, stateOfResult } from './run-text.ts';
import { tableLines, type Column } from './table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'STARTED' },
  { title: 'STATE' },
  { title: 'TOOK' },
  { title: 'SITES', cut: { to: 8, turn: 1 } },
  { title: 'FROM', cut: { to: 8, turn: 0 } },
  { title: 'RUN' },
];
const FROM = COLUMNS.findIndex(({ title }) => title === 'FROM');

/** @param columns of the screen; null: nothing is cut. @returns the line of titles, then one for each run */
export function runTable(runs: readonly RunResult[], columns: number | null): string[] {
  const rows = runs.map(cellsOf);
  // Most runs that people start have no such notes.
  const shown = (_: unknown, index: number) => index !== FROM || rows.some((cells) => cells[FROM] !== '');
  const [titles = '', ...lines] = tableLines(
    COLUMNS.filter(shown),
    rows.map((cells) => cells.filter(shown)),
    columns,
  );
  return [
    titles,
    ...lines.map((line, index) => {
      const run = runs[index]!;
      const state = stateOfResult(run);
      const colored = line.replace(state, () => colorize(run, state));
      return colored + reasonIn(run, columns === null ? null : columns - screenWidth(line));
    }),
  ];
}

function cellsOf(run: RunResult): string[] {
  const { startedAt, endedAt, deployments, workflowId } = run;
  return [
    startedAt === null ? '–' : secondsOf(startedAt),
    stateOfResult(run),
    startedAt === null || endedAt === null ? '–' : glanceText(Date.parse(endedAt) - Date.parse(startedAt)),
    deployments.map(({ target }) => targetLabel(target, plainText)).join(', ') || '–',
    fromText(run.meta ?? {}),
    workflowId ?? '',
  ];
}

/** `ann 3f2c1ab00000`: who started the job in CI, and its commit. */
const fromText = ({ by = '', commit = '' }: Record<string, string>): string =>
  [plainText(by, 40), commitText(plainText(commit))].filter((it) => it !== '').join(' ');
