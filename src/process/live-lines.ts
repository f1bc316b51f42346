/** Lines that are redrawn in place on a terminal. */
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { plainText } from '../contract/wording/safe-text.ts';

export interface LiveLines {
  /** Drops the lines that do not fit on the screen. */
  draw(lines: string[]): void;
  /** Removes the drawn lines. */
  clear(): void;
}

export function createLiveLines(stream: NodeJS.WriteStream): LiveLines {
  let drawn = 0;
  const clear = () => {
    if (drawn === 0) return;
    cursorTo(stream, 0);
    moveCursor(stream, 0, 1 - drawn);
    clearScreenDown(stream);
    drawn = 0;
  };
  return {
    draw(lines) {
      clear();
      // Some terminals report 0 rows or columns.
      const fitting = lines.slice(0, Math.max(1, (stream.rows || 24) - 1));
      // Clearing counts one screen row per line, so no line may wrap.
      const width = Math.max(20, (stream.columns || 80) - 1);
      stream.write(fitting.map((line) => plainText(line, width)).join('\n'));
      drawn = fitting.length;
    },
    clear,
  };
}
