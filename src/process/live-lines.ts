/** Lines that are drawn over again, where the stream is a terminal. */
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { plainText } from '../contract/wording/safe-text.ts';

export interface LiveLines {
  /** As many as fit. */
  draw(lines: string[]): void;
  /** Leaves the terminal as if nothing had been drawn. */
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
      // Some terminals say that they have none.
      const fitting = lines.slice(0, Math.max(1, (stream.rows || 24) - 1));
      // A line that wraps could not be cleared.
      const width = Math.max(20, (stream.columns || 80) - 1);
      stream.write(fitting.map((line) => plainText(line, width)).join('\n'));
      drawn = fitting.length;
    },
    clear,
  };
}
