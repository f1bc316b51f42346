/** Lines that are redrawn in place on a terminal. */
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import screenWidth from 'string-width';
import { replaceUnprintable } from '../contract/safe-text.ts';
import { withOwnCommand } from './own-command.ts';

/** `paint` colors the line after it was cut, so the text itself has no colors. */
export type LiveLine = string | { text: string; paint: (text: string) => string };

export interface LiveLines {
  /** Drops the lines that do not fit on the screen. */
  draw(lines: readonly LiveLine[]): void;
  clear(): void;
  /** Leaves the drawn lines where they are. Later output begins below them. */
  keep(): void;
}

export interface ScreenSize {
  rows: number;
  columns: number;
}

/** Some terminals report 0 rows or columns. The last row and column stay free, so that nothing scrolls or wraps. */
export function screenSize({ rows, columns }: Pick<NodeJS.WriteStream, 'rows' | 'columns'>): ScreenSize {
  return { rows: Math.max(1, (rows || 24) - 1), columns: Math.max(20, (columns || 80) - 1) };
}

/** Returns how wide lines may be: any width if no terminal shows them. */
export const columnsOf = (stream: NodeJS.WriteStream): number => (stream.isTTY ? screenSize(stream).columns : Infinity);

export function createLiveLines(stream: NodeJS.WriteStream): LiveLines {
  let drawn: string[] = [];
  /** The screen may have become narrower since, so that lines wrapped. */
  const rowsDrawn = () => {
    const { columns } = screenSize(stream);
    return drawn.reduce((rows, line) => rows + Math.max(1, Math.ceil(screenWidth(line) / (columns + 1))), 0);
  };
  const clear = () => {
    if (drawn.length === 0) return;
    cursorTo(stream, 0);
    moveCursor(stream, 0, 1 - rowsDrawn());
    clearScreenDown(stream);
    drawn = [];
  };
  return {
    draw(lines) {
      // One write for everything keeps the screen from flickering.
      stream.cork();
      clear();
      const { rows, columns } = screenSize(stream);
      const shown = lines.slice(0, rows).map((line) => {
        const { text, paint } = typeof line === 'string' ? { text: line, paint: String } : line;
        const cut = fitting(withOwnCommand(replaceUnprintable(text, ' ')), columns);
        return { cut, painted: paint(cut) };
      });
      stream.write(shown.map(({ painted }) => painted).join('\n'));
      drawn = shown.map(({ cut }) => cut);
      stream.uncork();
    },
    clear,
    keep() {
      if (drawn.length > 0) stream.write('\n');
      drawn = [];
    },
  };
}

/* Measures text on a terminal: some characters take two columns, others none. */

export { screenWidth };

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts the text where more would not fit. */
export function fitting(text: string, columns: number): string {
  if (screenWidth(text) <= columns) return text;
  let [cut, left] = ['', columns - 1];
  for (const { segment } of characters.segment(text)) {
    left -= screenWidth(segment);
    if (left < 0) break;
    cut += segment;
  }
  return `${cut}…`;
}
