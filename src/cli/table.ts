/** Lays rows out in columns that fit the screen. Pure. */
import { type LiveLine, fitting, screenWidth } from '../process/live-lines.ts';

export interface Column {
  title: string;
  /** To how much it may be cut, and its turn to give way: 1 goes first. Default: it is never cut. */
  cut?: { to: number; turn: number };
  /** Its turn to be left out, which comes before any cut: 1 goes first. Default: it is never left out. */
  drop?: number;
  /** The room it asks for before another column is left out. Default: what its longest cell takes. */
  wants?: number;
}

const GAP = 2;

/** A column of the table with the room that it takes: at first, what its longest cell needs. */
interface Measured extends Column {
  index: number;
  room: number;
}

/** @param width of the screen. @returns the line of titles, then one for each row */
export function tableLines(all: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const lines = [all.map(({ title }) => title), ...rows];
  const measured = all.map((column, index): Measured => {
    const room = Math.max(...lines.map((cells) => screenWidth(cells[index] ?? '')));
    return { ...column, index, room };
  });
  const columns = fittingColumns(measured, width);
  cutColumns(columns, width);
  return lines.map((cells) =>
    columns
      .map(({ index, room }) => {
        const text = fitting(cells[index] ?? '', room);
        return text + ' '.repeat(room - screenWidth(text));
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** Leaves out the least important columns until the others have the room that they ask for. */
function fittingColumns(all: readonly Measured[], width: number): Measured[] {
  const wanted = new Map(all.map((it) => [it, Math.min(it.room, it.wants ?? it.room)]));
  const turns = all.filter(({ drop }) => drop !== undefined).sort((a, b) => (a.drop ?? 0) - (b.drop ?? 0));
  const isTooWide = () => [...wanted.values()].reduce((sum, room) => sum + room + GAP, -GAP) > width;
  for (const column of turns) if (isTooWide()) wanted.delete(column);
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

/** Takes room from the columns in their turn, until all fit. */
function cutColumns(columns: readonly Measured[], width: number): void {
  let excess = columns.reduce((sum, { room }) => sum + room + GAP, -GAP) - width;
  const turns = columns.flatMap((column) => (column.cut === undefined ? [] : [{ column, ...column.cut }]));
  for (const { column, to } of turns.sort((a, b) => a.turn - b.turn)) {
    const less = Math.min(Math.max(0, excess), Math.max(0, column.room - to));
    column.room -= less;
    excess -= less;
  }
}

/** What fits on the screen: the head, the titles, and as many rows as there is room for. */
export function screenLines(head: readonly LiveLine[], table: readonly LiveLine[], rows: number): LiveLine[] {
  const room = Math.max(2, rows - head.length);
  if (table.length <= room) return [...head, ...table];
  const shown = table.slice(0, room - 1);
  return [...head, ...shown, `… ${table.length - shown.length} more`];
}
