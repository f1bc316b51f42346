/** Lays rows out in columns that fit the screen. Pure. */
import { type LiveLine, fitting, screenWidth } from '../process/live-lines.ts';

export interface Column {
  title: string;
  /** To how much it may be cut, and when its turn comes to give way. Default: it is never cut. */
  cut?: { to: number; turn: number };
  /** When its turn comes to be left out, which comes before any cut. Default: it is never left out. */
  drop?: number;
  /** The room it asks for before another column is left out. Default: what its longest cell takes. */
  wants?: number;
}

const GAP = 2;

/** @param width of the screen. @returns the line of titles, then one for each row */
export function tableLines(all: readonly Column[], allRows: readonly (readonly string[])[], width: number): string[] {
  const columns = fittingColumns(all, allRows, width);
  const rows = allRows.map((cells) => cells.filter((_, index) => columns.includes(all[index]!)));
  const lines = [columns.map(({ title }) => title), ...rows];
  const natural = columns.map((_, index) => Math.max(...lines.map((cells) => screenWidth(cells[index] ?? ''))));
  const widths = cutWidths(columns, natural, width);
  return lines.map((cells) =>
    widths
      .map((room, index) => {
        const text = fitting(cells[index] ?? '', room);
        return text + ' '.repeat(room - screenWidth(text));
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** Leaves out the least important columns until the others have the room that they ask for. */
function fittingColumns(
  all: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly Column[] {
  const wanted = new Map(
    all.map((column, index) => {
      const natural = Math.max(screenWidth(column.title), ...rows.map((cells) => screenWidth(cells[index] ?? '')));
      return [column, Math.min(natural, column.wants ?? natural)];
    }),
  );
  const turns = all.filter(({ drop }) => drop !== undefined).sort((a, b) => (b.drop ?? 0) - (a.drop ?? 0));
  const isTooWide = () => [...wanted.values()].reduce((sum, room) => sum + room + GAP, -GAP) > width;
  for (let next = turns.pop(); next !== undefined && isTooWide(); next = turns.pop()) wanted.delete(next);
  return [...wanted.keys()];
}

/** How wide the rows are without a cut, with the gap before a further column. */
export function naturalWidth(rows: readonly (readonly string[])[]): number {
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(...rows.map((cells) => screenWidth(cells[index] ?? ''))),
  );
  return widths.reduce((sum, room) => sum + room + GAP, 0);
}

function cutWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, room) => sum + room, GAP * (widths.length - 1)) - width;
  const turns = [...columns.entries()].flatMap(([index, { cut }]) => (cut === undefined ? [] : [{ index, ...cut }]));
  for (const { index, to } of turns.sort((a, b) => a.turn - b.turn)) {
    const room = widths[index] ?? 0;
    const less = Math.min(Math.max(0, excess), Math.max(0, room - to));
    widths[index] = room - less;
    excess -= less;
  }
  return widths;
}

/** What fits on the screen: the head, the titles, and as many rows as there is room for. */
export function screenLines(head: readonly LiveLine[], table: readonly LiveLine[], rows: number): LiveLine[] {
  const room = Math.max(2, rows - head.length);
  if (table.length <= room) return [...head, ...table];
  const shown = table.slice(0, room - 1);
  return [...head, ...shown, `… ${table.length - shown.length} more`];
}
