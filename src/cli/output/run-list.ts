/** The table of `belay list`. Pure. */
import type { RunResult } from '../../contract/run.ts';
import { glanceText } from '../../contract/wording/duration.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { targetLabel } from '../../contract/wording/target-text.ts';
import { screenWidth } from '../../process/screen-width.ts';
import { colorize, reasonIn, secondsOf, stateOfResult } from './run-text.ts';
import { tableLines, type Column } from './table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'STARTED' },
  { title: 'STATE' },
  { title: 'TOOK' },
  { title: 'SITES', cut: { to: 8, turn: 1 } },
  { title: 'RUN' },
];

/** @param columns of the screen; null: nothing is cut. @returns the line of titles, then one for each run */
export function runTable(runs: readonly RunResult[], columns: number | null): string[] {
  const [titles = '', ...lines] = tableLines(COLUMNS, runs.map(cellsOf), columns);
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
    workflowId ?? '',
  ];
}
